#!/usr/bin/env python3
"""Checks what may include what, and the shape of source files. Usage: check_layers.py [root]

Rooms of src/ include only rooms below them, core and the public headers:
    cli > server > worker > client > embedded > engine > redis > core
but embedded, which stands beside engine, does not include it, and cli may show the figures of bench/.
Prints one line per finding; ends with 1 if there is any.
"""

import pathlib
import re
import sys

ROOMS = ["core", "redis", "engine", "embedded", "client", "worker", "server", "cli"]  # from the ground up
NOT_EVEN_DOWN = {("embedded", "engine")}
MAY_INCLUDE_BENCH = {"cli"}
ROOMS_OF_BOOST = {"redis", "server"}
ROOMS_OF_HIREDIS = {"redis"}
MOST_LINES = 400

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
STANDARD_HEADER = re.compile(r"[a-z_]+")


def rule_of_public_header(name, kind, path):
    """What is wrong with a public header's include, or None."""
    optional = name == "include/duly/nlohmann.h"
    if kind == '"':
        if path == "duly/nlohmann.h":
            return "duly/nlohmann.h is optional: only the user includes it"
        return None if path.startswith("duly/") else f'"{path}" is not public'
    if STANDARD_HEADER.fullmatch(path) or (optional and path.startswith("nlohmann/")):
        return None
    return f"<{path}> is not of the standard library"


def rule_of_room(room, kind, path):
    """What is wrong with an include of a file in src/<room>, or None."""
    first, _, rest = path.partition("/")
    if first == "hiredis" and room not in ROOMS_OF_HIREDIS:
        return f"hiredis belongs to src/redis, not to src/{room}"
    if first == "boost" and room not in ROOMS_OF_BOOST:
        return f"Boost belongs to {', '.join(sorted(ROOMS_OF_BOOST))}, not to src/{room}"
    if kind == "<":
        return f"<{path}> is duly's own: write it in quotes" if first in ("src", "duly") else None
    if first == "duly" or (first == "bench" and room in MAY_INCLUDE_BENCH):
        return None
    if first != "src":
        return f'"{path}" must begin with src/ or duly/'
    target = rest.partition("/")[0]
    if target not in ROOMS:
        return f"src/{target} is no room"
    if ROOMS.index(target) > ROOMS.index(room) or (room, target) in NOT_EVEN_DOWN:
        return f"src/{room} may not include src/{target}"
    return None


def findings_in(root, file):
    """Yields (line, text) for one file below root."""
    name = file.relative_to(root).as_posix()
    parts = name.split("/")
    lines = file.read_text(encoding="utf-8").splitlines()
    if len(lines) > MOST_LINES:
        yield len(lines), f"{len(lines)} lines, expected at most {MOST_LINES}"
    if file.suffix == ".lua":
        return
    if file.suffix == ".h" and (not lines or lines[0] != "#pragma once"):
        yield 1, "a header's first line is #pragma once"
    if parts[0] == "src" and (len(parts) < 3 or parts[1] not in ROOMS):
        yield 1, "stands in no room of src/"
        return
    for number, line in enumerate(lines, 1):
        include = INCLUDE.match(line)
        if not include or parts[0] not in ("src", "include"):
            continue
        if parts[0] == "include":
            wrong = rule_of_public_header(name, *include.groups())
        else:
            wrong = rule_of_room(parts[1], *include.groups())
        if wrong:
            yield number, wrong


def main(root):
    files = sorted(
        file
        for folder in ("include", "src", "tests", "bench", "examples")
        for file in (root / folder).rglob("*")
        if file.suffix in (".h", ".cpp", ".lua")
    )
    if not files:
        print(f"{root}: no source files, expected include/ and src/")
        return 1
    count = 0
    for file in files:
        for line, text in findings_in(root, file):
            print(f"{file.relative_to(root)}:{line}: {text}")
            count += 1
    print(f"{len(files)} files, {count} findings")
    return 1 if count else 0


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent.parent
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else here))
