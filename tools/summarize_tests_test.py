#!/usr/bin/env python3
"""Tests of summarize_tests.py: whatever is not a pass must not be counted as one."""

import contextlib
import io
import pathlib
import tempfile
import unittest
from xml.sax.saxutils import escape

import summarize_tests

TWO_TESTS_ONE_SKIPPED = """[==========] Running 2 tests from 1 test suite.
[ RUN      ] Image.Decodes
GOLDEN depth 1.0e-6
[       OK ] Image.Decodes (3 ms)
[ RUN      ] Image.Kitchen
/src/x_test.cc:12: Skipped
../shared is absent

[  SKIPPED ] Image.Kitchen (0 ms)
[  PASSED  ] 1 test.
"""
ONE_FAILED = """[==========] Running 1 test from 1 test suite.
[ RUN      ] Image.Decodes/2
x_test.cc:3: Failure
[  FAILED  ] Image.Decodes/2, where GetParam() = 4 (1 ms)
[  FAILED  ] 1 test, listed below:
[  FAILED  ] Image.Decodes/2, where GetParam() = 4
"""


def summary_of(*entries, checks=""):
    """Exit status and printed lines for a folder with one stage whose ctest entries are (status, child element, output)."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cases = "".join(f'<testcase name="t{i}" status="{status}">{child}<system-out>{escape(output)}</system-out></testcase>'
                        for i, (status, child, output) in enumerate(entries))
        (folder / "release.xml").write_text(f"<testsuite>{cases}</testsuite>")
        (folder / "checks.tsv").write_text(checks)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            status = summarize_tests.main([name])
        return status, printed.getvalue().splitlines()


class SummarizeTests(unittest.TestCase):
    def test_counts_single_tests_and_shows_reasons_and_golden_lines(self):
        status, lines = summary_of(("run", "", TWO_TESTS_ONE_SKIPPED), ("run", "", "no GoogleTest"))
        self.assertEqual((status, lines[-1]), (0, "2 passed, 0 failed, 1 skipped"))
        self.assertIn("     1 x ../shared is absent", lines)
        self.assertIn("  depth 1.0e-6", lines)

    def test_a_failed_test_counts_once_and_is_named(self):
        status, lines = summary_of(("fail", "<failure message=''/>", ONE_FAILED))
        self.assertEqual((status, lines[-1]), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("  release: t0: Image.Decodes/2", lines)

    def test_a_crash_after_passing_tests_is_a_failure(self):
        status, lines = summary_of(("fail", "<failure message='SEGFAULT'/>", TWO_TESTS_ONE_SKIPPED))
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 1 skipped"))

    def test_a_program_that_was_not_built_is_a_failure(self):
        status, lines = summary_of(("notrun", "<skipped message='Unable to find executable'/>", ""))
        self.assertEqual((status, lines[-1]), (1, "0 passed, 1 failed, 0 skipped"))

    def test_a_skip_by_exit_code_is_a_skip(self):
        status, lines = summary_of(("notrun", "<skipped message='SKIP_RETURN_CODE=77'/>", ""), ("run", "", ""))
        self.assertEqual((status, lines[-1]), (0, "1 passed, 0 failed, 1 skipped"))

    def test_a_program_without_tests_is_a_failure(self):
        status, _ = summary_of(("run", "", "[==========] Running 0 tests from 0 test suites."), ("run", "", ""))
        self.assertEqual(status, 1)

    def test_nothing_passed_is_a_failure(self):
        self.assertEqual(summary_of()[0], 1)

    def test_checks_count_too(self):
        status, lines = summary_of(("run", "", ""), checks="source\tformat\tfailed\t\nsource\tlayers\tskipped\twhy\n")
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 1 skipped"))


if __name__ == "__main__":
    unittest.main()
