#!/usr/bin/env python3
"""Compiles each part of the Lua library without running it, in the Lua that Redis has. Usage: check_lua.py [root]

A private redis-server on a Unix socket does it, so that no other Lua is needed. Ends with 1 on a syntax
error, and when a file of src/lua is missing from parts.txt or the other way round.
"""

import pathlib
import subprocess
import sys
import tempfile
import time

COMPILE = "local f, e = loadstring(ARGV[1], '=' .. ARGV[2]); return e or 'fine'"
PATIENCE_S = 10


def compile_all(files, socket):
    """Yields (file, what is wrong)."""
    for file in files:
        cli = ["redis-cli", "-s", socket, "EVAL", COMPILE, "0", file.read_text(encoding="utf-8"), file.name]
        answer = subprocess.run(cli, capture_output=True, text=True, check=True).stdout.strip()
        if answer != "fine":
            yield file, answer


def is_up(socket):
    ping = subprocess.run(["redis-cli", "-s", socket, "PING"], capture_output=True, text=True)
    return ping.stdout.strip() == "PONG"


def main(root):
    folder = root / "src" / "lua"
    listed = {name for name in (folder / "parts.txt").read_text(encoding="utf-8").split()}
    files = sorted(folder.glob("*.lua"))
    findings = [f"src/lua/{name}: not both a file and in parts.txt" for name in sorted(listed ^ {f.name for f in files})]
    with tempfile.TemporaryDirectory(prefix="duly-lua-") as scratch:
        socket = f"{scratch}/redis.sock"
        options = ["--port", "0", "--unixsocket", socket, "--save", "", "--dir", scratch]
        server = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL)
        try:
            until = time.monotonic() + PATIENCE_S
            while not is_up(socket):
                if server.poll() is not None or time.monotonic() > until:
                    print("redis-server: did not start")
                    return 1
                time.sleep(0.02)
            findings += [f"src/lua/{file.name}: {wrong}" for file, wrong in compile_all(files, socket)]
        finally:
            server.terminate()
            server.wait()
    print("\n".join([*findings, f"{len(files)} parts, {len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent.parent
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else here))
