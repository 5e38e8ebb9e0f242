"""tools/check_docs.py finds pages that lack their other language, and links that lead nowhere."""

import unittest

from scratch_tree import ScratchTree


class CheckDocs(ScratchTree):
    def setUp(self):
        super().setUp()
        self.write("docs/guide.md", "# Guide\n\n## First steps\n")
        self.write("docs/zh/guide.md", "# 指南\n\n## 第一步\n")

    def assert_finds(self, text):
        status, output = self.run_tool("check_docs.py")
        self.assertEqual(status, 1, output)
        self.assertIn(text, output)
        self.assertIn("1 findings", output)

    def assert_finds_nothing(self):
        status, output = self.run_tool("check_docs.py")
        self.assertEqual(status, 0, output)

    def test_matching_pages_pass(self):
        self.assert_finds_nothing()

    def test_links_to_files_headings_and_elsewhere_pass(self):
        self.write("CONTRIBUTING.md", "[a](docs/guide.md) [b](docs/guide.md#first-steps) [c](docs/zh/guide.md#第一步)\n"
                   "[d](#here) [e](https://example.org/x) [f](docs)\n\n# `Here`!\n")
        self.assert_finds_nothing()

    def test_a_page_without_its_translation_is_found(self):
        self.write("docs/extra.md", "# Extra\n")
        self.assert_finds("docs/zh/extra.md: missing beside docs/extra.md")

    def test_a_translation_without_its_page_is_found(self):
        self.write("docs/zh/extra.md", "# 其他\n")
        self.assert_finds("docs/extra.md: missing beside docs/zh/extra.md")

    def test_a_readme_without_its_translation_is_found(self):
        self.write("README.md", "# duly\n")
        self.assert_finds("README.zh-CN.md: missing beside README.md")

    def test_a_missing_heading_is_found(self):
        self.write("docs/zh/guide.md", "# 指南\n")
        self.assert_finds("docs/zh/guide.md: its headings differ from docs/guide.md (2 and 1)")

    def test_a_heading_of_another_level_is_found(self):
        self.write("docs/zh/guide.md", "# 指南\n\n### 第一步\n")
        self.assert_finds("its headings differ")

    def test_a_comment_in_a_code_block_is_no_heading_and_no_link(self):
        self.write("docs/guide.md", "# Guide\n\n## First steps\n```sh\n# not one\n[x](nowhere.md)\n```\n")
        self.assert_finds_nothing()

    def test_a_dead_link_is_found(self):
        self.write("CHANGELOG.md", "# Changes\n\nSee [the guide](docs/giude.md).\n")
        self.assert_finds("CHANGELOG.md:3: docs/giude.md: no such file")

    def test_a_dead_anchor_is_found(self):
        self.write("CHANGELOG.md", "[the guide](docs/guide.md#last-steps)\n")
        self.assert_finds("docs/guide.md#last-steps: no such heading")

    def test_a_link_out_of_the_repository_is_found(self):
        self.write("CHANGELOG.md", "[up](../)\n")
        self.assert_finds("../: no such file")

    def test_a_tree_without_pages_is_a_wrong_root(self):
        for page in list(self.root.rglob("*.md")):
            page.unlink()
        status, _ = self.run_tool("check_docs.py")
        self.assertEqual(status, 1)


if __name__ == "__main__":
    unittest.main()
