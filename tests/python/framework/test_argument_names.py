"""Names of arguments that TensorFlow's functions have, where they differ between versions or from those of others."""
import inspect

import numpy as np
import pytest

import penstock.v1 as tf
from penstock.compat import v2 as version_two
from penstock.lib.io import file_io


@pytest.mark.parametrize("make, expected", [
    (lambda: tf.linalg.LinearOperatorIdentity(2), [[2.0, 1.0], [1.0, 2.0]]),
    (lambda: tf.linalg.LinearOperatorScaledIdentity(2, multiplier=3.0), [[4.0, 1.0], [1.0, 4.0]]),
    (lambda: tf.linalg.LinearOperatorZeros(2), [[1.0, 1.0], [1.0, 1.0]])])
def test_a_matrix_is_added(make, expected):
    with tf.Graph().as_default(), tf.Session() as session:
        np.testing.assert_array_equal(session.run(make().add_to_tensor(mat=tf.ones([2, 2]), name="sum")), expected)


def test_conversion_takes_values_and_types_in_version_one():
    def f(x):
        return x + 1

    assert "def tf__f" in tf.autograph.to_code(f, True, None, None, "    ")
    assert tf.autograph.to_graph(f, arg_values={}, arg_types={})(1) == 2


def test_files_of_other_encodings(tmp_path):
    path = str(tmp_path / "rows.csv")
    with file_io.FileIO(path, "w", encoding="latin-1") as f:
        f.write("é,x\n1,ü\n")
    assert open(path, "rb").read() == b"\xe9,x\n1,\xfc\n"
    assert file_io.FileIO(path, "r", "latin-1").readlines() == ["é,x\n", "1,ü\n"]
    rows = tf.data.experimental.make_csv_dataset(path, 1, num_epochs=1, encoding="latin-1")
    assert [(name, spec.dtype) for name, spec in rows.element_spec.items()] == [("é", tf.int32), ("x", tf.string)]


def test_others():
    function = version_two.config.experimental.set_virtual_device_configuration
    assert "logical_devices" in inspect.signature(function).parameters
    assert tf.Graph().as_graph_def(use_pybind11_proto=False).node == []
    assert tf.contrib.training.HParams(a=1).set_from_map(values_map={"a": 2}).a == 2


@pytest.mark.parametrize("name", [
    "math.erfinv", "math.ndtri", "math.xlog1py", "nn.silu", "nn.compute_average_loss",
    "nn.experimental.stateless_dropout",
    "linalg.eigh_tridiagonal", "linalg.experimental.conjugate_gradient", "random.split", "sparse.SparseTensor",
    "io.gfile.join", "config.experimental.get_memory_info", "experimental.ExtensionType", "dtypes.experimental.int4",
    "types.experimental.TensorLike"])
def test_compat_v1_has_names_of_later_versions(name):
    found = tf
    for part in name.split("."):
        found = getattr(found, part)


def test_loop_options_by_position():
    @tf.function
    def f(n):
        x = tf.zeros([1])
        while tf.shape(x)[0] < n:
            tf.autograph.experimental.set_loop_options(1, False, 3, [(x, tf.TensorShape([None]))])
            x = tf.concat([x, x], 0)
        return x

    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(tf.shape(f(tf.constant(100)))).tolist() == [8]  # three rounds
    tf.autograph.experimental.set_loop_options(back_prop=False)


def test_stubs_of_tests():
    stubs = tf.test.StubOutForTesting()
    stubs.SmartSet(obj=np, attr_name="pi", new_attr=3)
    assert np.pi == 3
    stubs.SmartUnsetAll()
    assert np.pi > 3
