"""Tables repeat neither version 2's tables nor the definitions of ops."""
import importlib.util

import pytest

from penstock import _core
from penstock import api
from penstock._src.graph import gen
from penstock._src.parallel_for import more_converters
from penstock.api import dispatch_rows
from penstock.api import lazy


@pytest.mark.parametrize("table", sorted(set(lazy.tables("v1")) - set(api.SAME.split())))
def test_version_one_says_only_what_differs(table):
    base = "_names" if table.startswith("_") else table
    shared = lazy.read_table("v2", base) if base in lazy.tables("v2") else {}
    module = importlib.import_module(f"penstock.api.v1.{table}")
    own = {**lazy.rows_of(getattr(module, "FROM", {})), **getattr(module, "NAMES", {})}
    assert not [name for name, target in own.items() if shared.get(name) == target]
    assert not [name for name in getattr(module, "WITHOUT", "").split() if name in own]


def test_namespaces_that_are_the_same_have_no_table():
    same = api.SAME.split()
    assert set(same) <= set(lazy.tables("v2"))
    assert not [name for name in same if importlib.util.find_spec(f"penstock.api.v1.{name}")]


def test_no_list_repeats_the_trait_of_elementwise_ops():
    rows = [target.partition(":")[2] for target in dispatch_rows.ROWS["ragged"] if target.startswith("graph.gen:")]
    repeated = [name for name in rows if _core.op_def(gen.op_name(name)).is_elementwise]
    assert repeated == ["next_after"]  # elementwise in its first argument alone, as in TensorFlow
    tables = more_converters.TABLE
    assert [op for op in tables if _core.op_def(op) and _core.op_def(op).is_elementwise] == ["ClipByValue"]
