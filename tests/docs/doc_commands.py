"""Runs the commands of a documentation page: doc_commands.py BUILD_FOLDER PAGE.

All ```sh and ```python blocks run in order, in one shell that ends at the first failure, in a folder where the
source tree lies. DULY_REDIS names a fresh private server, and so do `redis-cli` and `duly`. Left out: blocks marked
```sh no-run, which must say so, and blocks of nothing but installing and building, which need not.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from private_redis import SOURCE, PrivateRedis

# Installing and building: run by people, and by other tests.
LEFT_OUT = re.compile(r"(sudo )?apt(-get)? |\./dev\b|cmake |git clone |cd duly$|ctest ")
SECONDS = 120


def blocks_of(page):
    """(line, language, mark, text) of each fenced block."""
    text = page.read_text(encoding="utf-8")
    for m in re.finditer(r"^```(\w+)(?: ([\w-]+))?\n(.*?)^```$", text, re.S | re.M):
        yield text.count("\n", 0, m.start()) + 1, m[1], m[2], m[3]


def is_left_out(text):
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return all(LEFT_OUT.match(line) for line in lines)


def script_of(page):
    """The shell script of a page, and what was not taken into it."""
    parts, left_out = ["set -euo pipefail"], []
    for line, language, mark, text in blocks_of(page):
        where = f"{page.name}:{line}"
        if mark not in (None, "no-run"):
            raise SystemExit(f"{where}: unknown mark {mark}")
        if language not in ("sh", "python") or mark == "no-run" or is_left_out(text):
            left_out.append(f"{where}: {language} {mark or ''}".rstrip())
        elif language == "python":
            parts.append(f"echo '--- {where}' >&2\n/usr/bin/python3 - <<'END_OF_BLOCK'\n{text}END_OF_BLOCK")
        else:
            parts.append(f"echo '--- {where}' >&2\n{text}")
    return "\n".join(parts) + "\necho '--- end' >&2\n", left_out


def run(page, build):
    script, left_out = script_of(page)
    print("\n".join(f"not run: {block}" for block in left_out))
    with tempfile.TemporaryDirectory(prefix="duly-docs-") as folder:
        here, tools = Path(folder, "here"), Path(folder, "tools")
        here.mkdir()
        tools.mkdir()
        for entry in SOURCE.iterdir():
            if entry.name not in (".git", "build"):
                (here / entry.name).symlink_to(entry)
        server = PrivateRedis()
        try:
            cli = tools / "redis-cli"
            cli.write_text(f'#!/bin/sh\nexec /usr/bin/redis-cli -e -s {server.socket} "$@"\n')
            cli.chmod(0o755)
            environment = dict(os.environ, DULY_REDIS=server.url, HOME=folder, XDG_STATE_HOME=folder,
                               PATH=f"{tools}:{build}:{os.environ['PATH']}")
            done = subprocess.run(["bash", "-c", script], cwd=here, env=environment, timeout=SECONDS,
                                  stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, stdout=subprocess.PIPE,
                                  check=False)
        finally:
            server.close()
    output = done.stdout.decode(errors="replace")
    print(output)
    return done.returncode == 0 and output.endswith("--- end\n")


if __name__ == "__main__":
    build_folder, name = sys.argv[1:]
    sys.exit(0 if run(SOURCE / name, Path(build_folder).resolve()) else 1)
