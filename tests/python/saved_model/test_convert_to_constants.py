"""convert_variables_to_constants_v2: the function computes the same without its variables."""
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import penstock.v1 as v1  # noqa: E402  (first: the process' behaviour stays version 1's)
import penstock as tf  # noqa: E402
from penstock.eager import context  # noqa: E402
from penstock.framework.convert_to_constants import convert_variables_to_constants_v2  # noqa: E402
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
    assert frozen.variables == [] and [t.name for t in frozen.inputs] == ["x:0", "n:0"]
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
