"""Each table of branches in the sources is named by a test of this folder, and the helper finds what it should find."""
import re
from pathlib import Path

import branch_testing
import numpy as np
import pytest

FOLDER = Path(__file__).parent
SOURCES = [FOLDER.parents[2] / "src", FOLDER.parents[2] / "python" / "bindings"]
TABLE = re.compile(r'BranchTable<\d+>\s+\w+\s*[{(]\s*"([^"]+)"')


def test_each_table_is_tested():
    found = {name for folder in SOURCES for file in folder.rglob("*.cc") for name in TABLE.findall(file.read_text())}
    tests = "".join(file.read_text() for file in FOLDER.glob("test_*.py"))
    assert not [name for name in sorted(found) if not re.search(f'"{re.escape(name)}[":]', tests)]


def test_missing_branches_are_found():
    counts = {"t": {"a": 1, "b": 0}}
    assert list(branch_testing._missing(["t", "t:a", "u", "u:c"], counts)) == ["t:b", "u:any branch", "u:c"]
    assert not list(branch_testing._missing(["t:a"], counts))


def test_wrong_values_are_found():
    case = branch_testing.Case("name")
    case.check(np.float32([1, np.nan]), np.float64([1 + 1e-7, np.nan]), "close")
    for actual in ([1, 2], np.float32([[1, 2.1]]), np.float32([[1, np.nan]])):
        with pytest.raises(AssertionError):
            case.check(actual, np.float64([[1, 2]]), "other")
