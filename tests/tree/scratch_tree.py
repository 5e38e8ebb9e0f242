"""A small tree in a temporary folder, for one of the tools to judge."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["DULY_SOURCE_DIR"])


class ScratchTree(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="duly-tree-")).resolve()
        self.addCleanup(shutil.rmtree, self.root)

    def write(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def run_tool(self, name):
        """(exit status, what it printed) of tools/<name> on this tree."""
        command = [sys.executable, SOURCE / "tools" / name, self.root]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr
