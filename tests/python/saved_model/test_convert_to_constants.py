"""convert_variables_to_constants_v2: the function computes the same without its variables."""
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import penstock.v1 as v1  # noqa: E402  (first: the process' behaviour stays version 1's)
import penstock as tf  # noqa: E402
from penstock._src.graph import context  # noqa: E402
from penstock._src.base.mode import mode  # noqa: E402
from penstock._src.tools.convert_to_constants import convert_variables_to_constants_v2  # noqa: E402
from tensorflow_files import check, files  # noqa: E402


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.v = tf.Variable([1., 2.], name="kernel")
        self.table = tf.Variable([[1., 2.], [3., 4.]])

    @tf.function
    def inner(self, x):
        return x * self.v

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x"),
                                  tf.TensorSpec([], tf.int32, name="n")])
    def call(self, x, n):
        y = self.inner(x) + tf.gather(self.table, [1])
        for _ in tf.range(n):
            y = y + self.v
        if n > 3:
            y = y * self.v
        return {"y": y, "sum": tf.reduce_sum(y)}


def test_calls_branches_and_loops():
    model = Model()
    function = model.call.get_concrete_function()
    frozen = convert_variables_to_constants_v2(function)
    x = tf.constant([[1., 1.]])
    expected = {n: {k: v.numpy() for k, v in function(x, tf.constant(n)).items()} for n in (2, 5)}
    model.v.assign([100., 100.])
    for n, wanted in expected.items():
        found = frozen(x, tf.constant(n))
        # As in TensorFlow, results are a list in the order of the flat structure.
        assert type(found) is list and len(found) == len(wanted)
        np.testing.assert_array_equal(found[1].numpy(), wanted["y"])
    assert frozen.variables == () and [t.name for t in frozen.inputs] == ["x:0", "n:0"]
    types = {op.type for op in frozen.graph.get_operations()}
    assert not types & {"ReadVariableOp", "PartitionedCall", "StatefulPartitionedCall"}
    assert "kernel" in [op.name for op in frozen.graph.get_operations()]
    with v1.Graph().as_default(), v1.Session() as sess:
        v1.import_graph_def(frozen.graph.as_graph_def(), name="")
        found = sess.run(frozen.structured_outputs[1].name, {"x:0": [[1., 1.]], "n:0": 5})
    np.testing.assert_array_equal(found, expected[5]["y"])


def test_a_loaded_model():
    directory, answers = files()
    model = tf.saved_model.load(str(directory / "keras3"))
    frozen = convert_variables_to_constants_v2(model.signatures["serving_default"])
    found = frozen(tf.constant(answers["keras3"]["x"], tf.float32))
    check(found[0], answers["keras3"]["y"])
    model = tf.saved_model.load(str(directory / "signatures"))
    check(convert_variables_to_constants_v2(model.signatures["loop"])(tf.constant(7))[0], answers["signatures"]["loop"])
    with pytest.raises(ValueError, match="cannot become a constant"):
        convert_variables_to_constants_v2(model.signatures["serving_default"])  # it counts its calls


def ops_of(graph_def):
    return {node.op for body in [graph_def, *graph_def.library.function]
            for node in (body.node if hasattr(body, "node") else body.node_def)}


def test_conditionals_and_loops_are_lowered():
    w, b = tf.Variable([[1., 2.], [3., 4.]]), tf.Variable(3.)

    def steps(x):
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.cond(i > 1, lambda: y @ w, lambda: y + b)),
                             [0, x])[1]

    f = tf.function(lambda x, k: tf.map_fn(lambda row: row * b + w[0], tf.cond(
        tf.reduce_sum(x) > 3., lambda: steps(x), lambda: tf.switch_case(k, [lambda: x @ w, lambda: x * b]))))
    trace = f.get_concrete_function(tf.TensorSpec([2, 2], tf.float32), tf.TensorSpec([], tf.int32))
    frozen = convert_variables_to_constants_v2(trace)
    assert [t.name for t in frozen.inputs + frozen.outputs] == ["x:0", "k:0", "Identity:0"]
    graph_def = frozen.graph.as_graph_def()
    assert not graph_def.library.function
    assert {"Switch", "Merge", "LoopCond", "NextIteration"} <= ops_of(graph_def)
    assert not {"If", "StatelessIf", "While", "StatelessWhile", "Case", "ReadVariableOp"} & ops_of(graph_def)
    for x in [[1., 2.], [3., 4.]], [[0., 0.], [1., 1.]]:
        for k in 0, 1:
            given = tf.constant(x), tf.constant(k)
            wanted = f(*given).numpy()
            np.testing.assert_allclose(frozen(*given)[0].numpy(), wanted)
            with tf.Graph().as_default(), v1.Session() as sess:
                tf.import_graph_def(graph_def, name="")
                np.testing.assert_allclose(sess.run("Identity:0", {"x:0": x, "k:0": k}), wanted)
    kept = convert_variables_to_constants_v2(trace, lower_control_flow=False).graph.as_graph_def()
    assert {"If", "StatelessIf"} & ops_of(kept) and "ReadVariableOp" not in ops_of(kept)


def test_a_loaded_model_of_version_one(tmp_path):
    with tf.Graph().as_default(), v1.Session() as sess:
        x = v1.placeholder(tf.float32, [2, 2], name="x")
        v = v1.get_variable("v", initializer=[[1., 2.], [3., 4.]])
        w = v1.get_variable("w", initializer=[[1., 1.], [1., 1.]], use_resource=True)
        y = v1.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, v1.cond(y[0, 0] > 5., lambda: y + w, lambda: y @ v)),
                          [0, x])[1]
        sess.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(sess, str(tmp_path), {"x": x}, {"y": y})
    signature = tf.saved_model.load(str(tmp_path)).signatures["serving_default"]
    given = tf.constant([[1., 0.], [0., 1.]])
    wanted = signature(given)["y"].numpy()
    frozen = convert_variables_to_constants_v2(signature)
    assert not [op for op in ops_of(frozen.graph.as_graph_def()) if "Var" in op or op.startswith("Ref")]
    np.testing.assert_allclose(frozen(given)[0].numpy(), wanted)


def test_functions_of_a_session_graph(monkeypatch):
    monkeypatch.setattr(mode, "control_flow_v2", True)
    call = tf.function(lambda a, w: a @ w)
    with tf.Graph().as_default() as graph, v1.Session() as sess:
        x, k = v1.placeholder(tf.float32, [2, 2], name="x"), v1.placeholder(tf.int32, [], name="k")
        w = v1.get_variable("w", initializer=[[1., 2.], [3., 4.]], use_resource=True)
        table = v1.get_variable("t", initializer=np.arange(12., dtype=np.float32).reshape(6, 2), use_resource=True)
        y = v1.cond(tf.reduce_sum(x) > 1., lambda: x @ w + v1.cond(x[0, 0] > 0., lambda: w * 2., lambda: w), lambda: x)
        y = v1.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y @ w + tf.gather(table, [i, i])), [0, y])[1]
        y = call(y, w) + tf.switch_case(k, [lambda: w, lambda: tf.gather_nd(table, [[1], [0]])])
        tf.identity(y, name="y")
        sess.run(v1.global_variables_initializer())
        feeds = [{"x:0": [[1., 2.], [3., 4.]], "k:0": i} for i in range(2)]
        wanted = [sess.run("y:0", feed) for feed in feeds]
        frozen = v1.graph_util.convert_variables_to_constants(sess, graph.as_graph_def(), ["y"])
    assert {"If", "While", "Case"} & ops_of(frozen)
    assert not {"VarHandleOp", "ReadVariableOp", "ResourceGather", "ResourceGatherNd"} & ops_of(frozen)
    with tf.Graph().as_default(), v1.Session() as sess:
        tf.import_graph_def(frozen, name="")
        np.testing.assert_allclose([sess.run("y:0", feed) for feed in feeds], wanted)
