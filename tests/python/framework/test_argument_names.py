"""Names of arguments that TensorFlow's functions have, where they differ between versions or from those of others."""
import inspect

import numpy as np
import pytest

import penstock.v1 as tf
from penstock.compat import v2 as version_two
from penstock._src.graph import errors
from penstock._src.base import tf2
from penstock._src.files import file_io


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
            tf.autograph.experimental.set_loop_options(1, True, False, 3, [(x, tf.TensorShape([None]))])
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


VERSION_ONE = {  # signatures of 1.15.5
    "matmul": "a b transpose_a=False transpose_b=False adjoint_a=False adjoint_b=False a_is_sparse=False "
              "b_is_sparse=False name=None",
    "scatter_nd": "indices updates shape name=None", "manip.scatter_nd": "indices updates shape name=None",
    "tensor_scatter_add": "tensor indices updates name=None",
    "tensor_scatter_nd_add": "tensor indices updates name=None",
    "tensor_scatter_sub": "tensor indices updates name=None",
    "tensor_scatter_nd_sub": "tensor indices updates name=None",
    "nn.top_k": "input k=1 sorted=True name=None", "math.top_k": "input k=1 sorted=True name=None",
    "image.adjust_jpeg_quality": "image jpeg_quality name=None", "numpy_function": "func inp Tout name=None",
    "random.experimental.create_rng_state": "seed algorithm",
}


@pytest.mark.parametrize("name", VERSION_ONE)
def test_order_of_arguments_in_version_one(name):
    found = tf
    for part in name.split("."):
        found = getattr(found, part)
    assert [str(p) for p in inspect.signature(found).parameters.values()] == VERSION_ONE[name].split()


def test_names_of_operations_by_position_in_version_one():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        product = tf.matmul(x, x, False, True, False, False, False, False, "product")
        scattered = tf.scatter_nd([[1], [1]], [5.0, 6.0], [3], "scattered")
        added = tf.tensor_scatter_add(tf.ones([3]), [[1]], [4.0], "added")
        subtracted = tf.tensor_scatter_sub(tf.ones([3]), [[1]], [4.0], "subtracted")
        values, _ = tf.nn.top_k([1.0, 3.0, 2.0], 2, True, "greatest")
        doubled = tf.numpy_function(lambda v: v * 2, [x], tf.float32, "doubled")
        tf.image.adjust_jpeg_quality(tf.zeros([8, 8, 3]), 50, "worse")
        names = [t.op.name for t in (product, scattered, added, subtracted, values, doubled)]
        assert names == ["product", "scattered", "added", "subtracted", "greatest", "doubled"]
        assert any(op.name.startswith("worse/") for op in tf.get_default_graph().get_operations())
        found = session.run([product, scattered, added, subtracted, values, doubled])
    for value, expected in zip(found, ([[5, 11], [11, 25]], [0, 11, 0], [1, 5, 1], [1, -3, 1], [3, 2],
                                       [[2, 4], [6, 8]])):
        np.testing.assert_array_equal(value, expected)
    assert tf.matmul(tf.linalg.LinearOperatorIdentity(2), tf.ones([2, 2])).shape == (2, 2)


def test_options_of_functions_by_position_in_version_one():
    options = tf.autograph.experimental.Feature.LISTS
    function = tf.function(lambda x: x + 1, None, True, options, True, None)
    assert function._experimental_autograph_options is options and function._relax_shapes
    assert tf.function(reduce_retracing=True)(lambda x: x)._reduce_retracing


def test_numbers_of_unknown_errors():
    assert tf.errors.UnknownError(None, None, "said").error_code == tf.errors.UNKNOWN
    assert tf.errors.UnknownError(None, None, "said", 77).error_code == 77
    assert tf.errors.UnknownError(None, None, "said", error_code=78).error_code == 78
    assert errors._make_op_error(None, None, "said", 79).error_code == 79


class Asserts(tf.test.TestCase):

    def test(self):
        self.assertShapeEqual(np_array=np.zeros([2]), tf_tensor=tf.zeros([2]))
        self.assertShapeEqual(np.zeros([2]), tf.zeros([2]))
        self.assertProtoEquals("name: 'x'", message=tf.NodeDef(name="x"))
        with self.assertRaisesRegex(AssertionError, "^always : and this$"):
            self.fail("always", "and this")


def test_specs():
    assert tf.OptionalSpec(value_structure=tf.TensorSpec([])) == tf.OptionalSpec(tf.TensorSpec([]))
    spec = tf.TensorArraySpec([2], infer_shape=False)
    assert spec.is_compatible_with(other=tf.TensorArraySpec([None])) and not spec.is_compatible_with(tf.TensorSpec([2]))
    assert not spec.is_compatible_with(tf.TensorArraySpec([2], dynamic_size=True))
    values = version_two.SparseTensorSpec([None], tf.int32)
    ragged = version_two.RaggedTensorSpec([2, None], tf.int32, flat_values_spec=values)
    assert ragged.flat_values_spec is values and ragged._component_specs[0] is values
    assert version_two.RaggedTensorSpec([2, None], None, flat_values_spec=values) == ragged != \
        version_two.RaggedTensorSpec([2, None], tf.int32)
    for keywords in {"dtype": tf.float32, "flat_values_spec": values}, {"dtype": None}:
        with pytest.raises(ValueError, match="dtype"):
            version_two.RaggedTensorSpec([2, None], **keywords)
    with pytest.raises(ValueError, match="Customized value_type"):
        ragged._batch(2)
    assert version_two.dtypes.DType(type_enum=1, handle_data=None) == tf.float32


def test_cells_around_cells_are_built_and_called_as_layers():
    with tf.Graph().as_default():
        cell = version_two.nn.RNNCellResidualWrapper(tf.nn.rnn_cell.BasicRNNCell(3, dtype=tf.float32))
        cell.build(inputs_shape=tf.TensorShape([2, 3]))
        inputs, state = tf.zeros([2, 3]), tf.zeros([2, 3])
        outputs, _ = cell.call(inputs, state)
        assert cell.built and outputs.shape == (2, 3)
        gru = tf.nn.rnn_cell.GRUCell(3, dtype=tf.float32)
        gru.build(input_shape=tf.TensorShape([2, 3]))
        assert gru.built


def test_equality_of_tensors_is_apart_from_the_version():
    try:
        tf.enable_tensor_equality()
        assert tf.Tensor._USE_EQUALITY and not tf2.enabled()
    finally:
        tf.disable_tensor_equality()
    assert not tf.Tensor._USE_EQUALITY


def test_signatures_behind_classes_that_choose_another():
    assert list(inspect.signature(tf.TensorArray).parameters)[:3] == ["dtype", "size", "dynamic_size"]
    parameters = inspect.signature(version_two.Variable.__init__).parameters
    assert list(parameters)[-1] == "experimental_enable_variable_lifting"
