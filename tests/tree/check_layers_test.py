"""tools/check_layers.py refuses what points up or reaches out, and accepts a good tree."""

import unittest

from scratch_tree import ScratchTree


class CheckLayers(ScratchTree):
    def assert_finds(self, text):
        status, output = self.run_tool("check_layers.py")
        self.assertEqual(status, 1, output)
        self.assertIn(text, output)
        self.assertIn("1 findings", output)

    def assert_finds_nothing(self):
        status, output = self.run_tool("check_layers.py")
        self.assertEqual(status, 0, output)

    def test_a_good_tree_passes(self):
        self.write("include/duly/job.h", '#pragma once\n#include <string>\n#include "duly/types.h"\n')
        self.write("include/duly/nlohmann.h", "#pragma once\n#include <nlohmann/json.hpp>\n")
        self.write("src/core/record.h", "#pragma once\n")
        self.write("src/redis/codec.cpp", "#include <boost/asio/post.hpp>\n#include <hiredis/hiredis.h>\n")
        self.write("src/embedded/embedded.cpp", '#include "src/redis/io.h"\n')
        self.write("src/cli/main.cpp", '#include <CLI/CLI.hpp>\n#include "src/client/shared.h"\n')
        self.write("src/cli/bench/work.h", '#pragma once\n#include "bench/floor.h"\n')
        self.write("tests/unit/a_test.cpp", '#include "src/cli/main.h"\n')
        self.assert_finds_nothing()

    def test_an_empty_tree_is_a_wrong_root(self):
        status, output = self.run_tool("check_layers.py")
        self.assertEqual(status, 1)
        self.assertIn("no source files", output)

    def test_a_room_may_not_include_one_above(self):
        self.write("src/core/record.cpp", '#include <string>\n#include "src/redis/io.h"\n')
        self.assert_finds("src/core/record.cpp:2: src/core may not include src/redis")

    def test_engine_may_not_include_client(self):
        self.write("src/engine/engine.h", '#pragma once\n#include "src/client/shared.h"\n')
        self.assert_finds("src/engine may not include src/client")

    def test_embedded_may_not_include_engine_although_it_is_below(self):
        self.write("src/embedded/child.cpp", '#include "src/engine/engine.h"\n')
        self.assert_finds("src/embedded may not include src/engine")

    def test_source_may_not_include_tests(self):
        self.write("src/cli/main.cpp", '#include "tests/support/eventually.h"\n')
        self.assert_finds('"tests/support/eventually.h" must begin with src/ or duly/')

    def test_only_the_program_may_include_the_bench(self):
        self.write("src/worker/pool.cpp", '#include "bench/floor.h"\n')
        self.assert_finds('"bench/floor.h" must begin with src/ or duly/')

    def test_an_include_without_its_room_is_refused(self):
        self.write("src/core/id.cpp", '#  include "id.h"\n')
        self.assert_finds('"id.h" must begin with src/ or duly/')

    def test_own_headers_in_angle_brackets_are_refused(self):
        self.write("src/core/id.cpp", "#include <src/cli/main.h>\n")
        self.assert_finds("write it in quotes")

    def test_an_unknown_room_is_refused(self):
        self.write("src/util/text.cpp", "\n")
        self.assert_finds("stands in no room")

    def test_hiredis_stays_in_redis(self):
        self.write("src/engine/library.cpp", "#include <hiredis/hiredis.h>\n")
        self.assert_finds("hiredis belongs to src/redis")

    def test_boost_stays_in_redis_and_server(self):
        self.write("src/worker/pool.cpp", "#include <boost/asio/post.hpp>\n")
        self.assert_finds("Boost belongs to redis, server")

    def test_a_public_header_reads_the_standard_library_only(self):
        for path in ("nlohmann/json.hpp", "unistd.h", "boost/config.hpp"):
            with self.subTest(path):
                self.write("include/duly/job.h", f"#pragma once\n#include <{path}>\n")
                self.assert_finds(f"include/duly/job.h:2: <{path}> is not of the standard library")

    def test_a_public_header_may_not_include_an_internal_one(self):
        self.write("include/duly/job.h", '#pragma once\n#include "src/core/record.h"\n')
        self.assert_finds('"src/core/record.h" is not public')

    def test_no_public_header_pulls_in_the_optional_one(self):
        self.write("include/duly/duly.h", '#pragma once\n#include "duly/nlohmann.h"\n')
        self.assert_finds("duly/nlohmann.h is optional")

    def test_a_header_starts_with_pragma_once(self):
        self.write("tests/support/redis.h", "// A server.\n#pragma once\n")
        self.assert_finds("tests/support/redis.h:1: a header's first line is #pragma once")

    def test_a_file_has_at_most_400_lines(self):
        self.write("src/lua/put.lua", "-- line\n" * 400)
        self.assert_finds_nothing()
        self.write("src/lua/put.lua", "-- line\n" * 401)
        self.assert_finds("401 lines, expected at most 400")


if __name__ == "__main__":
    unittest.main()
