"""tools/check_lua.py finds what Redis's Lua cannot compile, and parts that are not listed."""

import unittest

from scratch_tree import ScratchTree


class CheckLua(ScratchTree):
    def setUp(self):
        super().setUp()
        self.write("src/lua/parts.txt", "args.lua\n")
        self.write("src/lua/args.lua", "local args = {}\n")

    def assert_finds(self, text):
        status, output = self.run_tool("check_lua.py")
        self.assertEqual(status, 1, output)
        self.assertIn(text, output)
        self.assertIn("1 findings", output)

    def test_a_good_part_passes(self):
        status, output = self.run_tool("check_lua.py")
        self.assertEqual(status, 0, output)

    def test_a_syntax_error_is_found_with_its_line(self):
        self.write("src/lua/args.lua", "local args = {}\nif args then\n")
        self.assert_finds("src/lua/args.lua: args.lua:3:")

    def test_a_part_that_is_not_listed_is_found(self):
        self.write("src/lua/lost.lua", "local lost = {}\n")
        self.assert_finds("src/lua/lost.lua: not both")

    def test_a_listed_part_that_is_missing_is_found(self):
        self.write("src/lua/parts.txt", "args.lua\ngone.lua\n")
        self.assert_finds("src/lua/gone.lua: not both")


if __name__ == "__main__":
    unittest.main()
