"""Definitions of ops by name."""
import pytest

from penstock._src.graph import op_def_registry
from penstock.proto import op_def_pb2


def test_definitions():
    ops = op_def_registry.get_registered_ops()
    assert len(ops) > 1000 and [a.name for a in ops["MatMul"].input_arg] == ["a", "b"]
    assert op_def_registry.get("MatMul") is ops["MatMul"] and op_def_registry.get("NoSuchOp") is None
    op_def_registry.sync()


def test_registering():
    mine = op_def_pb2.OpDef(name="OpOfThisTest")
    op_def_registry.register_op_list(op_def_pb2.OpList(op=[mine, op_def_registry.get("NoOp")]))
    assert op_def_registry.get_registered_ops()["OpOfThisTest"] == mine
    other = op_def_pb2.OpDef(name="OpOfThisTest", is_stateful=True)
    with pytest.raises(ValueError, match="(?s)Registered op_def for OpOfThisTest .* not equal"):
        op_def_registry.register_op_list(op_def_pb2.OpList(op=[other]))
    with pytest.raises(TypeError, match="not an op_def_pb2.OpList"):
        op_def_registry.register_op_list([mine])
