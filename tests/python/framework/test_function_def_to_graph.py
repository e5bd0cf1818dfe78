"""FunctionDefs as graphs."""
import pytest

import penstock.v1 as tf
from penstock.eager import context, def_function
from penstock.framework import function_def_to_graph as module


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
