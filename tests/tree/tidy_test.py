"""tools/tidy.py checks what changed, remembers what passed, and fails when clang-tidy does."""

import json
import os
import subprocess
import sys
import unittest

from scratch_tree import SOURCE, ScratchTree

# Stands in for clang-tidy: notes the file's name, and has a finding where the file says BAD.
FAKE = """#!/bin/sh
if [ "$1" = --version ]; then echo "fake 1"; exit 0; fi
for file; do :; done
basename "$file" >>"$FAKE_LOG"
! grep -H BAD "$file"
"""


class Tidy(ScratchTree):
    def setUp(self):
        super().setUp()
        self.write("bin/clang-tidy", FAKE).chmod(0o755)
        self.write(".clang-tidy", "Checks: '*'\n")
        self.write("tools/tidy.py", (SOURCE / "tools" / "tidy.py").read_text(encoding="utf-8"))
        self.write("include/duly/job.h", "#pragma once\n")
        self.write("src/core/id.h", '#pragma once\n#include "duly/job.h"\n')
        self.write("src/core/id.cpp", '#include "src/core/id.h"\n')
        self.write("src/core/check.cpp", "#include <string>\n")
        self.write("tests/unit/id_test.cpp", "BAD\n")
        self.compile("src/core/id.cpp", "src/core/check.cpp", "tests/unit/id_test.cpp")

    def compile(self, *names):
        entries = [{"file": str(self.root / name), "command": f"c++ -c {name}"} for name in names]
        self.write("build/dev/compile_commands.json", json.dumps(entries))

    def tidy(self):
        """(exit status, names of the files that clang-tidy was given, in order)."""
        log = self.write("log", "")
        environment = {**os.environ, "PATH": f"{self.root}/bin:{os.environ['PATH']}", "FAKE_LOG": str(log)}
        command = [sys.executable, self.root / "tools" / "tidy.py", "build/dev"]
        status = subprocess.run(command, env=environment, capture_output=True).returncode
        return status, log.read_text().split()

    def test_the_first_run_checks_the_sources_and_no_tests(self):
        status, checked = self.tidy()
        self.assertEqual((status, sorted(checked)), (0, ["check.cpp", "id.cpp"]))

    def test_a_second_run_checks_nothing(self):
        self.tidy()
        self.assertEqual(self.tidy(), (0, []))

    def test_a_changed_header_below_is_a_change(self):
        self.tidy()
        self.write("include/duly/job.h", "#pragma once\n#include <string>\n")
        self.assertEqual(self.tidy(), (0, ["id.cpp"]))

    def test_another_configuration_changes_everything(self):
        self.tidy()
        self.write(".clang-tidy", "Checks: '-*'\n")
        self.assertEqual(len(self.tidy()[1]), 2)

    def test_a_finding_fails_and_is_not_remembered(self):
        self.write("src/core/check.cpp", "BAD\n")
        self.assertEqual(self.tidy()[0], 1)
        self.assertEqual(self.tidy(), (1, ["check.cpp"]))

    def test_no_sources_at_all_is_a_wrong_build_folder(self):
        self.compile()
        self.assertEqual(self.tidy()[0], 1)


if __name__ == "__main__":
    unittest.main()
