"""The Python side of interop_test.cpp: interop.py put|work|rights URL. Exit status 0 if all was as it should be."""

import sys
from pathlib import Path

import redis

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from private_redis import PARTS, documented_rights, keys_of, pairs

PAYLOADS = {
    "all-bytes": bytes(range(256)),
    "numbers": b'{"a":9007199254740993,"b":18446744073709551615,"c":1.10,"d":[],"e":{}}',
    "empty": b"",
}
POLICY = {"max_attempts": 7, "lease_ms": 45000, "timeout_ms": 61000, "backoff": b"fixed", "backoff_base_ms": 1500,
          "backoff_cap_ms": 90000, "backoff_factor_milli": 1250, "backoff_jitter_percent": 35}


def main(what, url):
    client = redis.Redis.from_url(url)

    def call(name, *arguments):
        return client.execute_command("FCALL", f"duly_{name}", len(PARTS), *keys_of("interop"), *arguments)

    if what == "rights":
        client.execute_command("ACL", "SETUSER", "app", "reset", "on", *documented_rights())
        return
    if what == "put":
        for id, payload in PAYLOADS.items():
            policy = [part for pair in POLICY.items() for part in pair]
            assert call("put", "id", id, "type", "cards", "payload", payload, *policy)[0] == b"created"
        return
    for id, payload in PAYLOADS.items():
        job = pairs(call("find", "id", id)[1])
        assert {name: job[name] for name in POLICY} == POLICY, job
    rows = call("claim", "token", "python", "most", 10)[4]
    jobs = {job["id"].decode(): job for job in map(pairs, rows)}
    assert {id: job["payload"] for id, job in jobs.items()} == PAYLOADS, jobs
    assert all(job["type"] == b"cards" and job["lease_ms"] == 45000 for job in jobs.values()), jobs
    for job in jobs.values():
        assert call("ack", "id", job["id"], "token", job["token"])[0] == b"acked"


if __name__ == "__main__":
    main(*sys.argv[1:])
