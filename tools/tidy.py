#!/usr/bin/env python3
"""Runs clang-tidy on the sources of src/ that changed since they last passed. Usage: tidy.py [build folder]

A source has changed when it, a header of duly that it includes (however deep), its compile command, the
configuration or clang-tidy itself has. What passed is remembered in build/tidy-cache by a hash of all that.
Sources that read Boost take longest, so they come last and a finding elsewhere shows early.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = ROOT / "build" / "tidy-cache"
OWN_INCLUDE = re.compile(r'^\s*#\s*include\s*"((?:src|duly)/[^"]+)"', re.MULTILINE)
FOR_GCC_FLAGS = "--extra-arg=-Wno-unknown-warning-option"
BOOST = re.compile(r"^\s*#\s*include\s*<boost/", re.MULTILINE)


def texts_of(file, seen):
    """Adds to seen the text of a file and of every header of duly below it."""
    if file in seen or not file.exists():
        return seen
    seen[file] = file.read_text(encoding="utf-8")
    for path in OWN_INCLUDE.findall(seen[file]):
        texts_of(ROOT / (path if path.startswith("src/") else f"include/{path}"), seen)
    return seen


class Unit:
    """One source, the hash of all that decides its result, and whether it reads Boost."""

    def __init__(self, entry, salt):
        self.file = pathlib.Path(entry["file"])
        texts = texts_of(self.file, {})
        whole = [salt, entry["command"], *(texts[file] for file in sorted(texts))]
        self.mark = CACHE / hashlib.sha256("\0".join(whole).encode()).hexdigest()
        self.has_boost = any(BOOST.search(text) for text in texts.values())


def check(unit, build):
    """(unit, passed, output, seconds) of one clang-tidy."""
    start = time.monotonic()
    command = ["clang-tidy", "--quiet", FOR_GCC_FLAGS, "-p", str(build), str(unit.file)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode == 0:
        unit.mark.touch()
    # Without findings, standard error holds no more than a count of suppressed warnings.
    output = run.stdout + (run.stderr if run.returncode else "")
    return unit, run.returncode == 0, output.strip(), time.monotonic() - start


def main(build):
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True, check=True).stdout
    salt = version + (ROOT / ".clang-tidy").read_text(encoding="utf-8")
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    units = [Unit(e, salt) for e in entries if pathlib.Path(e["file"]).is_relative_to(ROOT / "src")]
    CACHE.mkdir(parents=True, exist_ok=True)
    changed = sorted((u for u in units if not u.mark.exists()), key=lambda u: (u.has_boost, u.file))
    print(f"{len(units)} sources, {len(changed)} to check", flush=True)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        runs = [pool.submit(check, unit, build) for unit in changed]
        for number, run in enumerate(concurrent.futures.as_completed(runs), 1):
            unit, passed, output, seconds = run.result()
            failed += not passed
            name = unit.file.relative_to(ROOT)
            print(f"[{number}/{len(runs)}] {name} ({seconds:.0f} s){'' if passed else ': findings'}", flush=True)
            if output:
                print(output, flush=True)
    if units and not failed:
        return 0
    print(f"{failed} of {len(units)} sources have findings")
    return 1


if __name__ == "__main__":
    sys.exit(main((ROOT / (sys.argv[1] if len(sys.argv) > 1 else "build/dev")).resolve()))
