#!/usr/bin/env python3
"""Checks the pages: both languages side by side, and no dead local link. Usage: check_docs.py [root]

docs/X.md and docs/zh/X.md, and README.md and README.zh-CN.md, exist together and have the same headings
by level. A link to a file, or to a heading (GitHub's anchors), leads somewhere.
"""

import pathlib
import re
import sys

FENCE = re.compile(r"^\s*(```|~~~)")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")
LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|<(?:a|img)\s[^>]*(?:href|src)=\"([^\"]+)\"")
ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def prose_of(page):
    """Yields (number, line) of what is not inside a fenced block."""
    fence = None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        mark = FENCE.match(line)
        if mark and fence in (None, mark.group(1)):
            fence = None if fence else mark.group(1)
        elif not fence:
            yield number, line


def headings_of(page):
    """Yields (level, text)."""
    for _, line in prose_of(page):
        heading = HEADING.match(line)
        if heading:
            yield len(heading.group(1)), heading.group(2)


def anchors_of(page):
    """The anchors that GitHub gives the headings: lower case, no punctuation, hyphens, repeats numbered."""
    seen = {}
    for _, text in headings_of(page):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        repeat = seen.get(anchor, 0)
        seen[anchor] = repeat + 1
        yield f"{anchor}-{repeat}" if repeat else anchor


def pairs_of(root):
    """Yields (english, chinese) pages that belong together; either may be missing."""
    docs, chinese = root / "docs", root / "docs" / "zh"
    for name in sorted({page.name for folder in (docs, chinese) for page in folder.glob("*.md")}):
        yield docs / name, chinese / name
    readmes = root / "README.md", root / "README.zh-CN.md"
    if any(page.exists() for page in readmes):
        yield readmes


def findings_of_pair(root, english, chinese):
    for page, other in ((english, chinese), (chinese, english)):
        if not page.exists():
            yield f"{page.relative_to(root)}: missing beside {other.relative_to(root)}"
            return
    levels = [[level for level, _ in headings_of(page)] for page in (english, chinese)]
    if levels[0] != levels[1]:
        counts = " and ".join(str(len(each)) for each in levels)
        yield f"{chinese.relative_to(root)}: its headings differ from {english.relative_to(root)} ({counts})"


def findings_of_links(root, page):
    for number, line in prose_of(page):
        for link in LINK.finditer(re.sub(r"`[^`]*`", "", line)):
            target = link.group(1) or link.group(2)
            if ELSEWHERE.match(target):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            where = f"{page.relative_to(root)}:{number}: {target}"
            if not file.is_relative_to(root) or not file.exists():
                yield f"{where}: no such file"
            elif anchor and file.suffix == ".md" and anchor not in anchors_of(file):
                yield f"{where}: no such heading"


def main(root):
    pages = sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md")])
    findings = [each for pair in pairs_of(root) for each in findings_of_pair(root, *pair)]
    findings += [each for page in pages for each in findings_of_links(root, page)]
    print("\n".join([*findings, f"{len(pages)} pages, {len(findings)} findings"]))
    return 1 if findings or not pages else 0


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent.parent
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else here))
