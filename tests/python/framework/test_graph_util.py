"""tf.graph_util and what is told of the ops of a GraphDef."""
import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.tools import convert_to_constants
from penstock._src.graph import dtypes
from penstock._src.function import graph_util
from penstock._src.checkpoint import meta_graph
from penstock.proto import graph_pb2


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_some_variables_stay_variables(graph):
    kept = tf.get_variable("kept", initializer=1., use_resource=True)
    frozen = tf.get_variable("frozen", initializer=2., use_resource=True)
    tf.add(kept, frozen, name="sum")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        made = convert_to_constants.convert_variables_to_constants_from_session_graph(
            session, graph.as_graph_def(), ["sum", "kept/Assign"], variable_names_denylist=["kept"])
    ops = {node.name: node.op for node in made.node}
    assert ops["frozen"] == "Const" and ops["kept"] == "VarHandleOp" and "ReadVariableOp" in ops.values()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(made, name="")
        session.run("kept/Assign")
        assert session.run("sum:0") == 3


def test_equal_graphs():
    def made(*values, function=1.):
        with tf.Graph().as_default() as g:
            for i, value in values:
                tf.constant(value, name=f"c{i}")
            message = g.as_graph_def()
        body = message.library.function.add()
        body.signature.name = "f"
        body.node_def.add(name="a", op="Const").attr["value"].f = function
        body.node_def.add(name="b", op="NoOp")
        return message

    one = made((0, 1.), (1, 2.))
    assert graph_util.graph_defs_equal(one, made((1, 2.), (0, 1.)))
    assert not graph_util.graph_defs_equal(one, made((0, 1.), (1, 3.)))
    assert not graph_util.graph_defs_equal(one, made((0, 1.)))
    assert not graph_util.graph_defs_equal(one, made((0, 1.), (1, 2.), function=2.))
    turned = made((0, 1.), (1, 2.))
    nodes = list(turned.library.function[0].node_def)[::-1]
    del turned.library.function[0].node_def[:]
    turned.library.function[0].node_def.extend(nodes)
    assert graph_util.graph_defs_equal(one, turned)
    strange = [made(function=np.nan), made(function=np.nan)]
    assert not graph_util.graph_defs_equal(*strange) and graph_util.graph_defs_equal(*strange, treat_nan_as_equal=True)
    with pytest.raises(TypeError, match="graph_def_2 must be a graph_pb2.GraphDef"):
        graph_util.graph_defs_equal(one, 3)


def test_what_others_are_colocated_with_is_no_training_node():
    message = graph_pb2.GraphDef()
    message.node.add(name="c", op="Const")
    message.node.add(name="i", op="Identity", input=["c"])
    message.node.add(name="j", op="Identity", input=["c"])
    message.node.add(name="sub", op="Sub", input=["i", "j"]).attr["_class"].list.s.append(b"loc:@i")
    made = graph_util.remove_training_nodes(message)
    assert [(node.name, list(node.input)) for node in made.node] == [("c", []), ("i", ["c"]), ("sub", ["i", "c"])]


def test_ops_of_functions_that_are_attributes():
    message = graph_pb2.GraphDef()
    for name in "ab":
        message.library.function.add().signature.name = name
    call = message.library.function[0].node_def.add(op="StatefulPartitionedCall")
    call.attr["f"].func.name = "b"
    message.library.function[1].node_def.add(op="Const")
    message.library.function[1].node_def.add(op="a")
    message.node.add(op="PartitionedCall").attr["f"].func.name = "a"
    assert [op.name for op in meta_graph.stripped_op_list_for_graph(message).op] == [
        "Const", "PartitionedCall", "StatefulPartitionedCall"]


def test_types_without_limits():
    assert dtypes.uint8.limits == (0, 255)
    with pytest.raises(ValueError, match="does not have defined limits"):
        dtypes.string.limits
