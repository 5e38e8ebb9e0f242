"""What `cmake --install` leaves works from outside, after being moved: by CMake and by pkg-config."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["DULY_SOURCE_DIR"])
BINARY = pathlib.Path(os.environ["DULY_BINARY_DIR"])
CONSUMER = SOURCE / "tests" / "consumer"
VERSION = re.search(r'kVersion = "([^"]+)"', (SOURCE / "include/duly/version.h").read_text()).group(1)
EXPECTED = f"duly {VERSION}\ninvalid_argument\n"


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = pathlib.Path(tempfile.mkdtemp(prefix="duly-install-"))
        cls.addClassCleanup(shutil.rmtree, cls.scratch)
        run("cmake", "--install", BINARY, "--prefix", cls.scratch / "first")
        cls.prefix = cls.scratch / "moved"
        (cls.scratch / "first").rename(cls.prefix)
        pc = next(cls.prefix.rglob("duly.pc"))
        cls.environment = {**os.environ, "PKG_CONFIG_PATH": str(pc.parent)}
        cls.environment.pop("DULY_REDIS", None)

    def pkg_config(self, *question):
        return run("pkg-config", *question, "duly", env=self.environment).split()

    def compiled_by_hand(self, *question):
        program = self.scratch / "by_hand"
        flags = self.pkg_config("--cflags", "--libs", *question)
        run(os.environ["CXX"], "-std=c++20", CONSUMER / "main.cpp", "-o", program, *flags)
        return run(program, env=self.environment)

    def test_a_cmake_project_finds_and_links_it(self):
        build = self.scratch / "consumer"
        run("cmake", "-G", "Ninja", "-S", CONSUMER, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build)
        self.assertEqual(run(build / "consumer", env=self.environment), EXPECTED)

    def test_pkg_config_names_all_that_linking_needs(self):
        self.assertEqual(self.compiled_by_hand(), EXPECTED)

    def test_pkg_config_static_does_too(self):
        self.assertEqual(self.compiled_by_hand("--static"), EXPECTED)

    def test_completion_and_manual_page_are_there(self):
        for name in ("bash-completion/completions/duly", "zsh/site-functions/_duly", "man/man1/duly.1"):
            self.assertIn("doctor", (self.prefix / "share" / name).read_text(), name)

    def test_pkg_config_knows_the_version(self):
        self.assertEqual(self.pkg_config("--modversion"), [VERSION])

    def test_its_headers_read_no_other_library(self):
        flags = self.pkg_config("--cflags")
        read = run(os.environ["CXX"], "-std=c++20", "-M", CONSUMER / "main.cpp", *flags)
        self.assertIn("duly/worker.h", read)
        self.assertNotRegex(read, r"boost|nlohmann|hiredis/|openssl/|spdlog|CLI/")

    def test_no_installed_text_names_the_place_of_the_build(self):
        for file in self.prefix.rglob("*"):
            if file.suffix in (".cmake", ".pc", ".h"):
                self.assertNotIn(str(SOURCE), file.read_text(), file)

    def test_licence_and_program_come_along(self):
        self.assertEqual(len(list(self.prefix.rglob("LICENSE"))), 1)
        self.assertEqual((self.prefix / "bin" / "duly").exists(), (BINARY / "duly").exists())


if __name__ == "__main__":
    unittest.main()
