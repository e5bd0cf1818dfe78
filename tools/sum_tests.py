"""sum_tests.py RESULTS STATUS: adds up CTest and pytest; its last line is `N passed, N failed, N skipped`.

RESULTS holds ctest.xml, gtest/NAME.xml, pytest.xml and lint; STATUS is not 0 if one of the runs reported a failure.
Each case of a GoogleTest executable counts; an executable that died before it wrote its results counts as one failure,
as does each line of lint: the name of a check of ./dev lint that failed.
"""
import sys
import xml.etree.ElementTree as ET
from pathlib import Path


def count(xml):
    """(passed, skipped, names of the failed) of a file in JUnit's format."""
    passed = skipped = 0
    failures = []
    for case in ET.parse(xml).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failures.append(f"{case.get('classname')}.{case.get('name')}")
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            skipped += 1
        else:
            passed += 1
    return passed, skipped, failures


def main(results, status):
    passed = skipped = 0
    failures = (results / "lint").read_text().splitlines() if (results / "lint").exists() else []
    reports = []
    if (results / "ctest.xml").exists():
        for test in ET.parse(results / "ctest.xml").iter("testcase"):
            report = results / "gtest" / f"test_{test.get('name')}.xml"
            ok = test.get("status") == "run"
            if report.exists():
                reports.append(report)
                ok = ok or count(report)[2]
            if not ok:
                failures.append(f"{test.get('name')} (the test program as a whole)")
    if (results / "pytest.xml").exists():
        reports.append(results / "pytest.xml")
    for report in reports:
        more_passed, more_skipped, more_failures = count(report)
        passed += more_passed
        skipped += more_skipped
        failures += more_failures
    if status and not failures:
        failures.append("a test run that ended with an error outside of any test")
    for name in failures:
        print("failed:", name)
    print(f"{passed} passed, {len(failures)} failed, {skipped} skipped")
    return 1 if failures or not passed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
