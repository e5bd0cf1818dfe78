"""The closing line that CI reads, and what ./dev promises in its help."""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

CTEST = '<testsuite><testcase name="base" status="{}"/></testsuite>'
GTEST = """<testsuites><testsuite>
<testcase classname="A" name="Good" status="run"/>
<testcase classname="A" name="Bad" status="run">{}</testcase>
<testcase classname="A" name="Off" status="notrun"/>
</testsuite></testsuites>"""
PYTEST = """<testsuites><testsuite>
<testcase classname="t" name="good"/>
<testcase classname="t" name="other"><skipped/></testcase>
<testcase classname="t" name="bad">{}</testcase>
</testsuite></testsuites>"""


def summary(tmp_path, ctest=None, gtest=None, pytest_xml=None, status=0):
    """(exit status, last line) of tools/sum_tests.py for results with these contents."""
    (tmp_path / "gtest").mkdir()
    for name, text in (("ctest.xml", ctest), ("gtest/test_base.xml", gtest), ("pytest.xml", pytest_xml)):
        if text is not None:
            (tmp_path / name).write_text(text)
    run = subprocess.run([sys.executable, str(ROOT / "tools" / "sum_tests.py"), str(tmp_path), str(status)],
                         capture_output=True, text=True)
    return run.returncode, run.stdout.splitlines()[-1]


def test_both_kinds_are_summed(tmp_path):
    got = summary(tmp_path, CTEST.format("run"), GTEST.format(""), PYTEST.format(""))
    assert got == (0, "4 passed, 0 failed, 2 skipped")


def test_a_failure_of_each_kind_counts_once(tmp_path):
    got = summary(tmp_path, CTEST.format("fail"), GTEST.format("<failure/>"), PYTEST.format("<error/>"), 1)
    assert got == (1, "2 passed, 2 failed, 2 skipped")


def test_a_test_program_that_died_is_a_failure(tmp_path):
    assert summary(tmp_path, CTEST.format("fail"), None, PYTEST.format(""), 1) == (1, "2 passed, 1 failed, 1 skipped")


def test_a_run_that_failed_outside_of_its_tests_is_a_failure(tmp_path):
    got = summary(tmp_path, CTEST.format("run"), GTEST.format(""), None, 1)
    assert got == (1, "2 passed, 1 failed, 1 skipped")


def test_a_check_of_lint_that_failed_is_a_failure(tmp_path):
    (tmp_path / "lint").write_text("lint: ruff\n")
    got = summary(tmp_path, CTEST.format("run"), GTEST.format(""), PYTEST.format(""), 1)
    assert got == (1, "4 passed, 1 failed, 2 skipped")


def test_nothing_run_is_not_a_success(tmp_path):
    assert summary(tmp_path) == (1, "0 passed, 0 failed, 0 skipped")


def test_help_has_one_line_for_each_task():
    text = subprocess.run([str(ROOT / "dev"), "help"], capture_output=True, text=True, check=True).stdout
    tasks = re.findall(r"^do_([\w-]+)\(\)", (ROOT / "dev").read_text(), re.M)
    assert sorted(re.findall(r"^\./dev ([\w-]+)  ", text, re.M)) == sorted(tasks)
    assert len(text.splitlines()) == len(tasks)


def test_an_unknown_task_is_an_error():
    assert subprocess.run([str(ROOT / "dev"), "tset"], capture_output=True).returncode == 2


def test_every_package_has_a_known_task():
    lines = [line.split("#")[0].split() for line in (ROOT / "packages.txt").read_text().splitlines()]
    assert {task for _, task in filter(None, lines)} == {"build", "debug", "fuzz", "tidy"}
