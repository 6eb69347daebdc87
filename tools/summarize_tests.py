#!/usr/bin/env python3
"""Adds up what ./run test left behind, so that a skipped or missing test cannot hide in a green run.

Reads FOLDER/*.xml (ctest --output-junit, one file per stage) and FOLDER/checks.tsv (stage, name, status, reason of everything
that is no ctest entry). A ctest entry that is a GoogleTest program counts as its single tests; any other counts as one. Prints
the golden table (lines that a test began with 'GOLDEN '), the reasons for skipping, the failures, one row per stage, and last
'N passed, N failed, N skipped'. Exit status 1 if anything failed or nothing passed.
"""

import collections
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

GTEST_END = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] (\S+?)(?:,.*)? \(\d+ ms\)$")
GTEST_RUN = re.compile(r"^\[ RUN      \] (\S+)$")
Result = collections.namedtuple("Result", "stage name status reason")  # status: passed, failed or skipped


def skip_reason(lines):
    """The text that GTEST_SKIP() was given: what stands between 'file:line: Skipped' and the end of the test."""
    for index, line in enumerate(lines):
        if line.endswith(": Skipped"):
            return " ".join(text.strip() for text in lines[index + 1:] if text.strip()) or "no reason given"
    return "no reason given"


def gtest_results(stage, program, output):
    """Results of the single tests in the output of one GoogleTest program."""
    results, since_run = [], []
    status_of = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}
    for line in output.splitlines():
        end = GTEST_END.match(line)
        if GTEST_RUN.match(line):
            since_run = []
        elif end:
            status = status_of[end.group(1)]
            reason = skip_reason(since_run) if status == "skipped" else ""
            results.append(Result(stage, f"{program}: {end.group(2)}", status, reason))
        else:
            since_run.append(line)
    return results


def entry_results(stage, entry):
    """Results of one ctest entry (a JUnit <testcase>), and its output."""
    name, status = entry.get("name"), entry.get("status")
    output = entry.findtext("system-out") or ""
    if status in ("notrun", "disabled"):
        skipped = entry.find("skipped")
        reason = skipped.get("message", "") if skipped is not None else ""
        # ctest also says "notrun" of a program that was never built: that is a failure, not a skip.
        wanted = status == "disabled" or reason.startswith("SKIP_")
        return [Result(stage, name, "skipped" if wanted else "failed", reason or status)], output

    results = gtest_results(stage, name, output)
    any_failed = any(result.status == "failed" for result in results)
    if status == "fail" and not any_failed:  # a crash, a sanitizer's report, a time-out
        failure = entry.find("failure")
        results.append(Result(stage, name, "failed", failure.get("message", "") if failure is not None else ""))
    elif "[==========] Running 0 tests" in output:
        results.append(Result(stage, name, "failed", "the program holds no test"))
    elif not results:
        results.append(Result(stage, name, "passed" if status == "run" else "failed", ""))
    return results, output


def read_folder(folder):
    """All results, and the GOLDEN lines in the order in which they were printed, each once."""
    results, golden = [], {}
    checks = folder / "checks.tsv"
    if checks.exists():
        for line in checks.read_text().splitlines():
            stage, name, status, reason = line.split("\t")
            results.append(Result(stage, name, status, reason))
    for report in sorted(folder.glob("*.xml")):
        for entry in ElementTree.parse(report).getroot().iter("testcase"):
            entries, output = entry_results(report.stem, entry)
            results += entries
            golden.update((line[len("GOLDEN "):], None) for line in output.splitlines() if line.startswith("GOLDEN "))
    return results, list(golden)


def print_summary(results, golden):
    if golden:
        print("Golden comparison:")
        for line in golden:
            print("  " + line)
    reasons = collections.Counter(result.reason for result in results if result.status == "skipped")
    if reasons:
        print("Skipped, because:")
        for reason, count in reasons.most_common():
            print(f"  {count:4d} x {reason}")
    failures = [result for result in results if result.status == "failed"]
    if failures:
        print("Failed:")
        for result in failures:
            print(f"  {result.stage}: {result.name}" + (f" ({result.reason})" if result.reason else ""))
    counts = collections.Counter((result.stage, result.status) for result in results)
    print(f"{'stage':10s} {'passed':>7s} {'failed':>7s} {'skipped':>7s}")
    for stage in dict.fromkeys(result.stage for result in results):
        print(f"{stage:10s} " + " ".join(f"{counts[stage, status]:7d}" for status in ("passed", "failed", "skipped")))


def main(arguments):
    results, golden = read_folder(pathlib.Path(arguments[0]))
    print_summary(results, golden)
    total = collections.Counter(result.status for result in results)
    print(f"\n{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
