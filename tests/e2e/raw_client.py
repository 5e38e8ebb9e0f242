"""Every function of the library, called from Python as docs/protocol.md says: by FCALL and by EVALSHA."""

import struct
import sys
import unittest
from pathlib import Path

import redis

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from private_redis import Functions, PrivateRedis, Script, eventually, keys_of, pairs, version

ALL_BYTES = bytes(range(256))
LARGE_NUMBERS = b'{"a":9007199254740993,"b":18446744073709551615,"c":1.10,"d":[],"e":{}}'


class RawClient:
    """The tests; each subclass says how functions are called."""

    @classmethod
    def setUpClass(cls):
        cls.redis = PrivateRedis()
        cls.client = cls.redis.client()
        cls.call = staticmethod(cls.caller())

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.redis.close()

    def setUp(self):
        self.client.flushdb()

    def claim(self, token="t", *more):
        word, now_us, next_us, role, rows = self.call("claim", "mail", "token", token, *more)
        self.assertEqual(word, b"jobs")
        return [pairs(row) for row in rows]

    def state(self, id, queue="mail"):
        reply = self.call("find", queue, "id", id)
        return pairs(reply[1])["state"] if reply[0] == b"found" else b"none"

    def stats(self):
        return pairs(self.call("stats", "mail")[1])

    def refuses(self, text, name, *arguments):
        with self.assertRaises(redis.ResponseError) as refused:
            self.call(name, "mail", *arguments)
        self.assertTrue(str(refused.exception).startswith("DULY_INVALID " + text), refused.exception)

    def test_version_is_that_of_the_source(self):
        self.assertEqual(self.call.version(), [b"version", version().encode()])

    def test_put_creates_a_job_once(self):
        word, id, due = self.call("put", "mail", "id", "a", "payload", "hello", "delay_ms", 60000)
        self.assertEqual((word, id), (b"created", b"a"))
        again = self.call("put", "mail", "id", "a", "payload", "other", "delay_ms", 1)
        self.assertEqual(again, [b"exists", b"a", due])
        self.assertEqual(self.state("a"), b"scheduled")

    def test_put_in_a_batch_answers_the_rows_that_are_not_created(self):
        self.call("put", "mail", "id", "b", "due_at_ms", 4102444800000)
        word, now, created, *rest = self.call(
            "put", "mail", "type", "welcome", "columns", 2, "id", "delay_ms", "a", 0, "b", 0, "c", -1, "a", 0)
        self.assertEqual((word, created), (b"batch", 1))
        self.assertEqual([rest[0:3], rest[3], rest[4], rest[6], rest[7]],
                         [[2, b"exists", b"4102444800000"], 3, b"invalid", 4, b"exists"])

    def test_put_of_all_or_nothing_withholds_the_good_rows(self):
        reply = self.call("put", "mail", "mode", "all", "columns", 2, "id", "delay_ms", "a", 0, "b", "x")
        self.assertEqual(reply[2:5], [0, 1, b"withheld"])
        self.assertEqual(self.state("a"), b"none")

    def test_payloads_are_opaque(self):
        for payload in (ALL_BYTES, LARGE_NUMBERS, b"", b"\x80" * 1048576):
            self.call("put", "mail", "id", "a", "payload", payload)
            self.assertEqual(self.claim("t1")[0]["payload"], payload)
            self.call("fail", "mail", "id", "a", "token", "t1", "error", ALL_BYTES, "retry_in_ms", 0)
            self.claim("t2")
            self.call("fail", "mail", "id", "a", "token", "t2", "give_up", 1)
            self.call("replay", "mail", "id", "a")
            self.assertEqual(self.claim("t3")[0]["payload"], payload)
            self.call("ack", "mail", "id", "a", "token", "t3")

    def test_a_record_packed_by_the_caller_is_a_job_as_any_other(self):
        policy = struct.pack("<BBHIIIII", 0, 0, 7, 5000, 60000, 1000, 9000, 1500)
        record = struct.pack("<BBB", 1, 3, 4) + policy + b"card" + ALL_BYTES
        self.call("put", "mail", "id", "a", "record", record)
        job = pairs(self.call("find", "mail", "id", "a")[1])
        self.assertEqual((job["type"], job["payload"]), (b"card", ALL_BYTES))
        self.assertEqual([job[name] for name in ("max_attempts", "lease_ms", "timeout_ms", "backoff",
                                                 "backoff_base_ms", "backoff_cap_ms", "backoff_factor_milli",
                                                 "backoff_jitter_percent")],
                         [7, 5000, 60000, b"fixed", 1000, 9000, 1500, 0])
        word, now, _, _, row = self.call("claim", "mail", "token", "t", "as", "records")
        self.assertEqual((row[0], row[2], row[3]), (b"a", b"t", 1))
        self.assertEqual(row[4][6:], record)
        self.assertEqual(int.from_bytes(row[4][:6], "little"), job["put_at_ms"])

    def test_packed_and_plain_rows_share_a_batch(self):
        reply = self.call("put", "mail", "columns", 3, "id", "record", "payload",
                          "a", b"\x01\x00\x00packed", "", "b", "", "plain")
        self.assertEqual(reply[2:], [2])
        self.assertEqual([j["payload"] for j in self.claim("t", "most", 2)], [b"packed", b"plain"])

    def test_claim_takes_due_jobs_only_and_says_when_to_look_again(self):
        self.call("put", "mail", "id", "later", "delay_ms", 60000)
        self.call("put", "mail", "id", "now", "type", "welcome", "max_attempts", 3)
        word, now, next_us, role, rows = self.call("claim", "mail", "token", "t", "most", 10, "lease_ms", 90000)
        job = pairs(rows[0])
        self.assertEqual(len(rows), 1)
        self.assertEqual((job["id"], job["token"], job["type"], job["attempt"], job["max_attempts"]),
                         (b"now", b"t", b"welcome", 1, 3))
        self.assertEqual((job["lease_ms"], job["timeout_ms"]), (90000, 1800000))
        self.assertTrue(0 < next_us <= 60_000_000)
        self.assertEqual(self.state("now"), b"active")
        self.assertEqual(self.call("claim", "empty", "token", "t")[1:][1:], [-1, b"", []])

    def test_a_claim_is_repeated_by_its_token(self):
        self.call("put", "mail", "columns", 1, "id", "a", "b")
        first = self.claim("t", "most", 2)
        again = self.claim("t", "most", 2)
        self.assertEqual([(j["id"], j["token"]) for j in again], [(j["id"], j["token"]) for j in first])
        self.assertEqual(self.claim("other", "most", 2), [])

    def test_a_claim_never_writes_over_a_lease_that_its_token_left(self):
        self.call("put", "mail", "columns", 2, "id", "lease_ms", "a", "", "b", 60000)
        self.claim("t", "most", 2, "lease_ms", 30000)
        self.call("ack", "mail", "id", "a", "token", "t")
        self.call("put", "mail", "columns", 2, "id", "lease_ms", "c", "", "d", 60000)
        self.assertEqual([j["token"] for j in self.claim("t", "most", 2, "lease_ms", 30000)], [b"t", b"t.3"])
        self.assertEqual(self.call("ack", "mail", "id", "b", "token", "t.2")[0], b"acked")

    def test_ack_ends_a_job_once(self):
        self.call("put", "mail", "id", "a")
        self.claim()
        self.assertEqual(self.call("ack", "mail", "id", "a", "token", "old"), [b"lease_lost", b"a", b""])
        self.assertEqual(self.call("ack", "mail", "id", "a", "token", "t"), [b"acked", b"a", b""])
        self.assertEqual(self.call("ack", "mail", "id", "a", "token", "t"), [b"lease_lost", b"a", b""])
        self.assertEqual(self.state("a"), b"none")

    def test_ack_in_batches_whole_or_in_part(self):
        self.call("put", "mail", "columns", 1, "id", "a", "b", "c")
        self.claim("t", "most", 3)
        part = self.call("ack", "mail", "columns", 2, "id", "token", "a", "t", "b", "old")
        self.assertEqual(part[2:], [1, 2, b"lease_lost", b""])
        whole = self.call("ack", "mail", "token", "t", "columns", 1, "id", "b", "c")
        self.assertEqual(whole[2:], [2])
        self.assertEqual(self.stats()["acked"], b"3")

    def test_fail_runs_again_after_the_backoff_until_no_attempt_is_left(self):
        self.call("put", "mail", "id", "a", "max_attempts", 2, "backoff", "fixed", "backoff_base_ms", 70000,
                  "backoff_jitter_percent", 0)
        now = self.call("claim", "mail", "token", "t1")[1] // 1000
        word, id, due = self.call("fail", "mail", "id", "a", "token", "t1", "error", "no answer")
        self.assertEqual(word, b"failed")
        self.assertTrue(70000 <= int(due) - now < 75000)
        self.call("run_now", "mail", "id", "a")
        self.assertEqual(self.claim("t2")[0]["attempt"], 2)
        self.assertEqual(self.call("fail", "mail", "id", "a", "token", "t2", "error", "again"),
                         [b"dead", b"a", b"failed"])
        job = pairs(self.call("find", "mail", "id", "a")[1])
        self.assertEqual((job["state"], job["reason"], job["failures"], job["last_error"]),
                         (b"dead", b"failed", 2, b"again"))

    def test_fail_in_a_batch_answers_the_rows_that_do_not_run_again(self):
        self.call("put", "mail", "columns", 1, "id", "a", "b", "c", "d")
        self.claim("t", "most", 4)
        reply = self.call("fail", "mail", "token", "t", "columns", 3, "id", "give_up", "retry_in_ms",
                          "a", "", 5000, "b", 1, "", "x", "", "", "c", "yes", "", "d", "", "1e3")
        self.assertEqual([reply[2], reply[3:6], reply[6:8], reply[9:11], reply[12:14]],
                         [1, [2, b"dead", b"given_up"], [3, b"lease_lost"], [4, b"invalid"], [5, b"invalid"]])
        self.assertEqual([self.state(id) for id in "abcd"], [b"scheduled", b"dead", b"active", b"active"])

    def test_B05_a_record_damaged_while_active_stops_no_other_row(self):
        self.call("put", "mail", "columns", 1, "id", "a", "b")
        self.claim("t", "most", 2)
        self.client.hset(keys_of("mail")[1], "b", "junk")
        reply = self.call("fail", "mail", "token", "t", "columns", 1, "id", "a", "b")
        self.assertEqual(reply[2:], [1, 2, b"dead", b"unreadable"])
        self.assertEqual(self.client.exists(*keys_of("mail")[2:4]), 0)

    def test_release_gives_back_unharmed(self):
        self.call("put", "mail", "columns", 1, "id", "a", "b")
        self.claim("t", "most", 2)
        self.assertEqual(self.call("release", "mail", "id", "a", "token", "t"), [b"released", b"a", b""])
        self.assertEqual(self.call("release", "mail", "token", "t", "columns", 1, "id", "a", "b")[2:],
                         [1, 1, b"lease_lost", b""])
        self.assertEqual([j["attempt"] for j in self.claim("t2", "most", 2)], [1, 1])

    def test_extend_keeps_a_lease_and_never_shortens_it(self):
        self.call("put", "mail", "id", "a")
        now = self.call("claim", "mail", "token", "t", "lease_ms", 30000)[1] // 1000
        word, _, end = self.call("extend", "mail", "id", "a", "token", "t", "lease_ms", 90000)
        self.assertEqual(word, b"extended")
        self.assertTrue(90000 <= int(end) - now < 95000)
        self.assertEqual(self.call("extend", "mail", "id", "a", "token", "t", "lease_ms", 100)[2], end)
        reply = self.call("extend", "mail", "lease_ms", 100, "columns", 2, "id", "token", "a", "t", "a", "x")
        self.assertEqual(reply[2:], [1, 2, b"lease_lost", b""])

    def test_an_expired_lease_comes_back_and_the_third_time_is_dead(self):
        self.call("put", "mail", "id", "a")
        for attempt in (1, 2, 3):
            self.assertEqual(self.claim(f"t{attempt}", "lease_ms", 100)[0]["attempt"], attempt)
            self.assertTrue(eventually(lambda: self.call("recover", "mail") == [b"recovered", 1]))
        job = pairs(self.call("find", "mail", "id", "a")[1])
        self.assertEqual((job["state"], job["reason"], job["lost_leases"], job["failures"]),
                         (b"dead", b"quarantined", 3, 0))
        self.assertEqual(self.call("ack", "mail", "id", "a", "token", "t3")[0], b"lease_lost")

    def test_B04_a_lease_whose_end_is_missing_is_found_again(self):
        self.call("put", "mail", "id", "a")
        self.claim("t", "lease_ms", 86400000)
        self.client.delete(keys_of("mail")[2])
        self.assertEqual(self.call("recover", "mail"), [b"recovered", 1])
        self.assertEqual((self.state("a"), self.stats()["repaired"]), (b"ready", b"1"))

    def test_B04_an_entry_without_its_record_is_dropped_and_counted(self):
        self.call("put", "mail", "columns", 1, "id", "a", "b")
        self.client.hdel(keys_of("mail")[1], "a")
        self.assertEqual([j["id"] for j in self.claim("t", "most", 2)], [b"b"])
        self.assertEqual(self.stats()["dropped"], b"1")

    def test_B05_an_unreadable_record_is_dead_and_holds_up_no_other(self):
        self.call("put", "mail", "columns", 1, "id", "a", "b")
        self.client.hset(keys_of("mail")[1], "a", "not a job")
        self.assertEqual([j["id"] for j in self.claim("t", "most", 2)], [b"b"])
        job = pairs(self.call("find", "mail", "id", "a")[1])
        self.assertEqual((job["state"], job["reason"], job["payload"]), (b"dead", b"unreadable", b"not a job"))
        self.assertEqual(self.pages("dead"), ["a"])

    def test_cancel_of_an_active_job_reaches_its_holder(self):
        self.call("put", "mail", "columns", 1, "id", "a", "b", "c")
        self.claim("t", "most", 3)
        self.assertEqual(self.call("cancel", "mail", "id", "a"), [b"asked", b"a", b""])
        self.assertEqual(self.call("cancel", "mail", "columns", 1, "id", "a", "b")[2:],
                         [0, 1, b"asked", b"", 2, b"asked", b""])
        self.assertEqual(self.call("extend", "mail", "id", "c", "token", "t", "lease_ms", 9000), [b"asked", b"c", b"a b"])
        self.assertEqual(self.call("fail", "mail", "id", "a", "token", "t"), [b"cancelled", b"a", b""])
        self.assertEqual(self.call("release", "mail", "columns", 2, "id", "token", "b", "t", "c", "t")[2:],
                         [1, 1, b"cancelled", b""])
        self.assertEqual((self.state("a"), self.state("b"), self.state("c")), (b"none", b"none", b"ready"))
        self.assertEqual((self.stats()["asked"], self.stats()["cancelled"]), (b"2", b"2"))

    def test_cancel_reschedule_run_now_and_edit_change_waiting_jobs_only(self):
        self.call("put", "mail", "columns", 2, "id", "delay_ms", "active", 0, "w", 60000)
        self.claim()
        self.assertEqual(self.call("cancel", "mail", "id", "none"), [b"not_found", b"none", b""])
        for name, more in (("reschedule", ("delay_ms", 5)), ("run_now", ()), ("edit", ("payload", "x"))):
            self.assertEqual(self.call(name, "mail", "id", "active", *more), [b"wrong_state", b"active", b""])
            self.assertEqual(self.call(name, "mail", "id", "none", *more), [b"not_found", b"none", b""])
        self.assertEqual(self.call("reschedule", "mail", "id", "w", "due_at_ms", 4102444800000),
                         [b"done", b"w", b"4102444800000"])
        self.assertEqual(self.call("edit", "mail", "id", "w", "payload", ALL_BYTES), [b"done", b"w", b""])
        self.assertEqual(self.call("run_now", "mail", "id", "w")[0], b"done")
        self.assertEqual(pairs(self.call("find", "mail", "id", "w")[1])["payload"], ALL_BYTES)
        self.assertEqual(self.call("cancel", "mail", "columns", 1, "id", "w", "w")[2:], [1, 2, b"not_found", b""])
        self.assertEqual(self.state("w"), b"none")

    def test_list_pages_through_each_state(self):
        ids = [f"j{i:02}" for i in range(7)]
        self.call("put", "mail", "columns", 1, "id", *ids)
        self.assertEqual(self.pages("ready"), ids)
        self.claim("t", "most", 4)
        self.assertEqual(self.pages("active"), ids[:4])
        self.call("fail", "mail", "token", "t", "give_up", 1, "columns", 1, "id", *ids[:3])
        self.assertEqual(sorted(self.pages("dead")), ids[:3])
        self.call("put", "mail", "delay_ms", 60000, "columns", 1, "id", "x", "y", "z")
        self.assertEqual(self.pages("scheduled"), ["x", "y", "z"])

    def pages(self, state):
        found, after = [], b""
        while True:
            word, now, after, rows = self.call("list", "mail", "state", state, "most", 2, "after", after)
            found += [pairs(row)["id"].decode() for row in rows]
            self.assertLessEqual(len(rows), 2)
            if not after:
                return found

    def test_a_page_of_active_jobs_goes_on_after_a_heartbeat(self):
        self.call("put", "mail", "columns", 1, "id", "a", "b", "c")
        self.claim("t1", "most", 1)
        self.claim("t2", "most", 1, "lease_ms", 40000)
        self.claim("t3", "most", 1, "lease_ms", 50000)
        _, _, after, rows = self.call("list", "mail", "state", "active", "most", 1)
        self.call("extend", "mail", "id", "a", "token", "t1", "lease_ms", 45000)
        _, _, _, rows = self.call("list", "mail", "state", "active", "most", 250, "after", after)
        self.assertEqual([pairs(row)["id"] for row in rows], [b"b", b"a", b"c"])

    def test_find_answers_many_in_order(self):
        self.call("put", "mail", "columns", 1, "id", "a", "b")
        word, now, rows = self.call("find", "mail", "columns", 1, "id", "b", "none", "a")
        self.assertEqual([pairs(row).get("id") for row in rows], [b"b", None, b"a"])
        self.assertEqual(self.call("find", "mail", "id", "none"), [b"not_found"])

    def test_pause_stops_claims_until_resumed(self):
        self.call("put", "mail", "id", "a")
        self.assertEqual(self.call("pause", "mail"), [b"paused"])
        self.assertEqual(self.claim("t1"), [])
        self.assertEqual(self.stats()["paused"], b"1")
        self.assertEqual(self.call("resume", "mail"), [b"resumed"])
        self.assertEqual(len(self.claim("t2")), 1)

    def test_dead_jobs_are_replayed_and_purged_by_id_and_in_bulk(self):
        ids = ["a", "b", "c", "d"]
        self.call("put", "mail", "columns", 1, "id", *ids)
        self.claim("t", "most", 4)
        self.call("fail", "mail", "token", "t", "give_up", 1, "error", "bad", "columns", 1, "id", *ids)
        now = self.stats()["now_ms"]
        self.assertEqual(self.call("replay", "mail", "id", "a"), [b"done", b"a", b""])
        self.assertEqual(self.call("replay", "mail", "id", "a"), [b"wrong_state", b"a", b""])
        self.assertEqual(self.call("purge", "mail", "columns", 1, "id", "b", "none")[2:],
                         [1, 2, b"not_found", b""])
        self.assertEqual(self.call("replay", "mail", "most", 1, "died_by_ms", now)[2:], [1])
        self.assertEqual(self.call("purge", "mail", "most", 250, "died_by_ms", now)[2:], [1])
        jobs = self.claim("t2", "most", 4)
        self.assertEqual([(j["id"], j["attempt"]) for j in jobs], [(b"a", 1), (b"c", 1)])
        self.assertEqual(pairs(self.call("find", "mail", "id", "a")[1])["last_error"], b"bad")

    def test_stats_count_what_is_there_and_what_was(self):
        self.call("put", "mail", "columns", 2, "id", "due_at_ms", "a", 0, "b", 4102444800000)
        self.claim()
        stats = self.stats()
        self.assertEqual([stats[name] for name in ("scheduled", "ready", "active", "dead", "oldest_due_ms")],
                         [1, 0, 1, 0, b"4102444800000"])
        self.assertEqual((stats["put"], stats["claimed"]), (b"2", b"1"))
        self.assertLess(int(stats.get("lateness_ms", 0)), 5000)  # B101: since it was put, not since 1970

    def imports(self, *arguments, source=("old",)):
        word, cursor, told = self.call("import", "mail", *arguments, source=source)
        self.assertEqual(word, b"imported")
        return cursor, pairs(told)

    def test_import_moves_members_at_the_time_that_their_scores_mean(self):
        self.client.zadd("old", {"a": 4102444800.123, "b": 4102444800.0004})
        cursor, told = self.imports("type", "welcome", "priority", 3)
        self.assertEqual((cursor, told["created"], told["remaining"]), (b"", 2, 0))
        self.assertEqual((told["earliest_ms"], told["latest_ms"]), (b"4102444800001", b"4102444800123"))
        rows = [pairs(row) for row in self.call("list", "mail", "state", "scheduled")[3]]
        self.assertEqual([(row["payload"], row["due_at_ms"], row["type"], row["priority"]) for row in rows],
                         [(b"b", b"4102444800001", b"welcome", 3), (b"a", b"4102444800123", b"welcome", 3)])
        self.client.zadd("old", {"c": 4102444800000.5})
        self.assertEqual(self.imports("score", "ms")[1]["latest_ms"], b"4102444800001")

    def test_import_never_rounds_a_time_in_seconds_down_and_seldom_up(self):
        times = {f"{at}.{ms:03}": at * 1000 + ms for at in (1700000000, 4102444800, 253402300799) for ms in range(1000)}
        self.client.zadd("old", {text: float(text) for text in times})
        cursor = b""
        while self.client.exists("old"):
            cursor, _ = self.imports("cursor", cursor)
        found = self.client.zrange(keys_of("mail")[0], 0, -1, withscores=True)
        self.assertEqual(sorted(int(score) for _, score in found), sorted(times.values()))

    def test_import_of_a_hash_takes_ids_and_bytes_as_they_are(self):
        self.client.zadd("old", {"id-1": 5, "no id": 6, "absent": 7})
        self.client.hset("contents", mapping={"id-1": ALL_BYTES, "no id": b"", "foreign": "x"})
        cursor, told = self.imports(source=("old", "contents"))
        self.assertEqual((cursor, told["created"], told["no_content"]), (b"", 2, 1))
        self.assertEqual((self.client.zrange("old", 0, -1), self.client.hkeys("contents")), ([b"absent"], [b"foreign"]))
        jobs = self.claim("t", "most", 9)
        self.assertEqual([job["payload"] for job in jobs], [ALL_BYTES, b""])
        self.assertEqual(jobs[0]["id"], b"id-1")
        self.assertRegex(jobs[1]["id"], b"^[0-9a-f]{40}$")

    def test_import_goes_past_what_it_leaves_whatever_comes_and_goes_meanwhile(self):
        self.client.zadd("old", {f"bad{n:03}": -1 for n in range(400)})
        self.client.zadd("old", {f"worse{n:03}": float("-inf") for n in range(400)})
        self.client.zadd("old", {f"good{n:03}": 1 for n in range(400)})
        cursor, left, created, calls = b"", 0, 0, 0
        while calls == 0 or cursor:
            cursor, told = self.imports("cursor", cursor)
            left, created, calls = left + told["not_a_time"], created + told["created"], calls + 1
            self.client.zrem("old", f"worse{calls:03}")
            self.client.zadd("old", {f"soon{calls}": -2})
        self.assertEqual((left, created), (800, 400))
        self.assertLessEqual(calls, 6)

    def test_import_moves_about_a_mebibyte_a_call(self):
        self.client.zadd("old", {bytes([n]) * 600_000: n for n in range(40)})
        cursor, told = self.imports()
        self.assertEqual((cursor, told["created"], told["remaining"]), (b"-inf:0", 2, 38))
        self.client.zadd("ids", {f"i{n}": n for n in range(40)})
        self.client.hset("contents", mapping={f"i{n}": b"x" * 600_000 for n in range(40)})
        self.assertEqual(self.imports(source=("ids", "contents"))[1]["remaining"], 38)

    def test_import_that_looks_changes_nothing(self):
        self.call("limits", "mail", "length", 3)
        before = self.client.dump(keys_of("mail")[6])
        self.client.zadd("old", {"a": 1, "b": 2, "bad": -1})
        cursor, told = self.imports("look", 1, "planned", 2)
        self.assertEqual((told["created"], told["full"], told["not_a_time"], told["remaining"]), (1, 1, 1, 3))
        self.assertEqual(self.client.dump(keys_of("mail")[6]), before)
        self.assertEqual(self.client.zcard("old"), 3)
        self.assertEqual(self.client.exists(*keys_of("mail")[:2]), 0)

    def test_import_of_a_member_whose_job_is_there(self):
        def add(score):
            self.client.zadd("old", {"a": score})
            self.client.hset("contents", "a", f"at {score}")
        def take():
            told = self.imports(source=("old", "contents"))[1]
            return [word for word in ("created", "existed", "updated", "in_use") if told[word]]
        add(4102444800)
        self.assertEqual(take(), ["created"])
        add(4102444800)
        self.assertEqual(take(), ["existed"])
        add(1)
        self.assertEqual(take(), ["updated"])
        self.assertEqual([job["payload"] for job in self.claim("t")], [b"at 1"])
        add(2)
        self.assertEqual(take(), ["in_use"])
        self.call("ack", "mail", "id", "a", "token", "t")
        self.assertEqual(take(), ["created"])
        self.assertEqual(self.stats()["put"], b"2")

    def test_import_refuses_wrong_keys_and_arguments(self):
        self.client.set("text", "x")
        self.client.zadd("old", {"a": 1})
        before = self.client.dump("old")
        for text, source in (("keys: 15", ()), ("keys: 18", ("old", "h", "i")), ("source: not a sorted set", ("text",)),
                             ("contents: not a hash", ("old", "text")), ("contents: not a hash", ("old", "old")),
                             ("source: a key of the queue itself", (keys_of("mail")[0],))):
            with self.assertRaisesRegex(redis.ResponseError, "DULY_INVALID " + text):
                self.call("import", "mail", source=source)
        for text, *arguments in (("score", "score", "h"), ("cursor", "cursor", "nan:1"), ("cursor", "cursor", "1"),
                                 ("look", "look", 2), ("look", "planned", -1), ("look", "payload_limit", "x"),
                                 ("priority", "priority", 10), ("record", "record", b"\x01\x00\x00x"),
                                 ("columns", "columns", 1, "score", "s"), ("argument 1", "payload", "x")):
            with self.assertRaisesRegex(redis.ResponseError, "DULY_INVALID " + text):
                self.call("import", "mail", *arguments, source=("old",))
        self.assertEqual((self.client.dump("old"), self.client.dbsize()), (before, 2))

    def test_wrong_arguments_are_refused_and_change_nothing(self):
        self.refuses("argument 1", "put", "queue", "mail", "id", "a")
        self.refuses("payload: no value", "put", "id", "a", "payload")
        self.refuses("id", "put", "payload", "x")
        self.refuses("id", "put", "id", "a b")
        self.refuses("type", "put", "id", "a", "type", "ü")
        self.refuses("max_attempts", "put", "id", "a", "max_attempts", 0)
        self.refuses("backoff_cap_ms", "put", "id", "a", "backoff_base_ms", 10, "backoff_cap_ms", 5)
        self.refuses("backoff", "put", "id", "a", "backoff", "linear")
        for delay in ("-1", "1e3", " 5", "5s", "NaN", "3155760000001", "9" * 400):
            self.refuses("delay_ms", "put", "id", "a", "delay_ms", delay)
        self.refuses("due_at_ms", "put", "id", "a", "due_at_ms", 253402300800000)
        self.refuses("due_at_ms", "put", "id", "a", "delay_ms", 1, "due_at_ms", 1)
        self.refuses("mode", "put", "id", "a", "mode", "some")
        self.refuses("mode", "put", "columns", 2, "id", "mode", "a", "all")
        self.refuses("record", "put", "id", "a", "record", "\x02\x00\x00")
        self.refuses("rows", "put", "columns", 2, "id", "type", "a")
        self.refuses("rows", "put", "columns", 1, "id", *range(251))
        self.refuses("columns", "put", "columns", 0)
        self.refuses("token", "claim", "most", 1)
        self.refuses("token", "claim", "token", "t.2")
        self.refuses("most", "claim", "token", "t", "most", 251)
        self.refuses("lease_ms", "claim", "token", "t", "lease_ms", 99)
        self.refuses("as", "claim", "token", "t", "as", "record")
        self.refuses("waiter", "claim", "token", "t", "waiter", "")
        self.refuses("token", "ack", "id", "a")
        self.refuses("id", "cancel")
        self.refuses("delay_ms, due_at_ms", "reschedule", "id", "a")
        self.refuses("payload", "edit", "id", "a")
        self.refuses("most, died_by_ms", "purge", "most", 5)
        self.refuses("state", "list", "state", "finished")
        self.refuses("after", "list", "state", "ready", "after", "x")
        self.refuses("argument 1: unknown name, expected none", "stats", "queue", "mail")
        self.assertEqual(self.client.dbsize(), 0)

    def test_keys_that_are_not_the_whole_list_are_refused(self):
        for name in ("put", "claim", "replay", "stats"):
            with self.assertRaisesRegex(redis.ResponseError, "DULY_INVALID keys: 1, expected 15"):
                self.short_call(name)


class ByFunctions(RawClient, unittest.TestCase):
    @classmethod
    def caller(cls):
        return Functions(cls.client)

    def test_readers_may_be_called_as_readers(self):
        for name, *arguments in (("find", "id", "a"), ("list", "state", "ready"), ("stats",)):
            self.client.execute_command("FCALL_RO", f"duly_{name}", 15, *keys_of("mail"), *arguments)

    def short_call(self, name):
        self.client.execute_command("FCALL", f"duly_{name}", 1, "duly:{mail}:due")


class ByScript(RawClient, unittest.TestCase):
    """As a user who may call neither FUNCTION nor FCALL."""

    @classmethod
    def caller(cls):
        cls.client.execute_command("ACL", "SETUSER", "plain", "on", ">pw", "~*", "&*", "+@all", "-function",
                                   "-fcall", "-fcall_ro")
        cls.client.close()
        cls.client = cls.redis.client(username="plain", password="pw")
        return Script(cls.client)

    def short_call(self, name):
        self.client.execute_command("EVALSHA", self.call.sha, 1, "duly:{mail}:due", name)

    def test_functions_are_denied_here(self):
        with self.assertRaises(redis.exceptions.NoPermissionError):
            self.client.execute_command("FCALL", "duly_version", 0)


if __name__ == "__main__":
    unittest.main()
