"""FunctionDefs as graphs."""
import pytest

import penstock.v1 as tf
from penstock._src.graph import context, graph_only_ops
from penstock._src.tf_function import def_function
from penstock._src.function import function_def_to_graph as module
from penstock._src.function import graph_to_function_def


@def_function.function
def parts(x, y):
    first, second = tf.split(x, 2)
    with tf.control_dependencies([tf.identity(first, name="before")]):
        return tf.add(second, y, name="sum")


@pytest.fixture
def fdef():
    with context.eager_mode():
        spec = tf.TensorSpec([4], tf.float32)
        return parts.get_concrete_function(spec, tf.TensorSpec([], tf.float32)).function_def


def test_graph_gives_the_same(fdef):
    with tf.Graph().as_default():
        graph = module.function_def_to_graph(fdef)
    with tf.Session(graph=graph) as session:
        values = {graph.inputs[0]: [1.0, 2.0, 3.0, 4.0], graph.inputs[1]: 10.0}
        assert session.run(graph.outputs[0], values).tolist() == [13.0, 14.0]
    assert [op.name for op in graph.get_operation_by_name("sum").control_inputs] == ["before"]


def test_names_and_attributes(fdef):
    fdef.arg_attr[0].attr["_mark"].s = b"value"
    with tf.Graph().as_default():
        graph_def, names = module.function_def_to_graph_def(fdef)
    assert names["split:output:1"] == "split:1" and names["x"] == "x:0"
    placeholders = [node for node in graph_def.node if node.op == "Placeholder"]
    assert [node.name for node in placeholders] == ["x", "y"]
    assert placeholders[0].attr["_mark"].s == b"value"


def test_shapes(fdef):
    with tf.Graph().as_default():
        graph = module.function_def_to_graph(fdef, [tf.TensorShape([6]), tf.TensorShape([])])
        assert graph.outputs[0].shape.as_list() == [3]
        assert graph.inputs[0].shape.as_list() == [6]
        with pytest.raises(ValueError, match="Length of `input_shapes`"):
            module.function_def_to_graph(fdef, [tf.TensorShape([6])])


def test_part_of_a_graph_becomes_a_function():
    with tf.Graph().as_default() as graph:
        x, y = tf.placeholder(tf.float32, name="x"), tf.placeholder(tf.float32, name="y")
        total = tf.add(x * x, y, name="total")
    fdef = graph_to_function_def.graph_to_function_def(graph, graph.get_operations(), [x, y], [total])
    assert fdef.signature.name == "_" and [arg.name for arg in fdef.signature.input_arg] == ["x", "y"]
    fdef.signature.name = "squared_plus"
    again = module.function_def_to_graph(fdef)
    with tf.Session(graph=again) as sess:
        assert sess.run(again.outputs, {again.inputs[0]: 3, again.inputs[1]: 1}) == [10]
    named = graph_to_function_def.graph_to_function_def(graph, graph.get_operations(), [x, y], [total], ["sum"])
    assert [arg.name for arg in named.signature.output_arg] == ["sum"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="output names size = 2 outputs size = 1"):
        graph_to_function_def.graph_to_function_def(graph, graph.get_operations(), [x, y], [total], ["a", "b"])
    with pytest.raises(ValueError, match="duplicates in out_names: a, a"):
        graph_to_function_def.graph_to_function_def(graph, graph.get_operations(), [x, y], [total, x], ["a", "a"])


def test_nodes_for_graphs():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = graph_only_ops.graph_placeholder(tf.int32, [2])
        assert x.shape == [2] and sess.run(graph_only_ops.graph_zeros_like(x), {x: [1, 2]}).tolist() == [0, 0]
