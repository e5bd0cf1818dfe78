"""tf.map_fn and its kin as TensorFlow 2.21 has them."""
import pytest

import penstock as tf
from penstock._src.graph import context
from penstock._src.base import tf2
from penstock._src.control_flow import functional_ops, map_fn
from penstock._src.ops.ragged import ragged_map_ops


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


def _magnitude(x):
    if x > 0:
        y = x
    else:
        y = -x
    return y


class _Magnitude:
    def __call__(self, x):
        return _magnitude(x)


@pytest.mark.parametrize("function", [_magnitude, _Magnitude()])
def test_the_function_is_converted(function):
    values = tf.constant([1, -2, 3])
    assert tf.function(lambda: tf.map_fn(function, values))().numpy().tolist() == [1, 2, 3]
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        assert session.run(tf.map_fn(function, [1, -2, 3][:] + tf.zeros([3], tf.int32))).tolist() == [1, 2, 3]
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(lambda: tf.map_fn(function, values), autograph=False)()


def test_sparse_elements_and_results(monkeypatch):
    sparse = tf.sparse.from_dense([[1, 2], [0, 3]])
    same = tf.map_fn(lambda x: x, sparse)
    assert tf.sparse.to_dense(same).numpy().tolist() == [[1, 2], [0, 3]]
    sums = tf.function(lambda: tf.map_fn(tf.sparse.reduce_sum, sparse, fn_output_signature=tf.int32))()
    assert sums.numpy().tolist() == [3, 3]
    made = tf.map_fn(lambda x: tf.sparse.from_dense([x]), tf.constant([1, 2]),
                     fn_output_signature=tf.SparseTensorSpec([None], tf.int32))
    assert tf.sparse.to_dense(made).numpy().tolist() == [[1], [2]]
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    assert tf.sparse.to_dense(map_fn.map_fn(lambda x: x, sparse)).numpy().tolist() == [[1, 2], [0, 3]]


def test_refused(monkeypatch):
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    with pytest.raises(ValueError, match="elems must be a Tensor or"):
        tf.map_fn(lambda x: x, [])
    with pytest.raises(ValueError, match="must be .* Tensor.* not scalar"):
        tf.map_fn(lambda x: x, 1)
    with pytest.raises(ValueError, match="Dimensions 2 and 3 are not compatible|not compatible"):
        tf.map_fn(lambda x: x, (tf.constant([1, 2]), tf.constant([1, 2, 3])))
    with pytest.raises(TypeError, match="callable"):
        tf.map_fn(3, tf.constant([1]))


def test_the_internal_names_of_folds():
    assert functional_ops.foldl_v2(lambda a, x: 2 * a + x, tf.constant([1, 2, 3])).numpy() == 11
    assert functional_ops.foldr_v2(lambda a, x: 2 * a + x, tf.constant([1, 2, 3])).numpy() == 17
    assert functional_ops.scan_v2(lambda a, x: a + x, tf.constant([1, 2, 3])).numpy().tolist() == [1, 3, 6]


def test_ragged_results_have_the_declared_shape():
    @tf.function(input_signature=[tf.TensorSpec([3, None], tf.int32)])
    def rows(x):
        made = tf.map_fn(lambda row: row, tf.RaggedTensor.from_tensor(x),
                         fn_output_signature=tf.RaggedTensorSpec([None], tf.int32, ragged_rank=0))
        assert made.shape.as_list() == [3, None] and made.to_tensor()[0].shape.as_list() == [None]
        return made

    assert rows([[1, 2], [3, 4], [5, 6]]).to_list() == [[1, 2], [3, 4], [5, 6]]


def _of_lengths(function, lengths, signature):
    return tf.map_fn(function, lengths, fn_output_signature=signature)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
def test_ragged_elements_and_results_with_specs(wrap):
    ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
    sums = wrap(lambda: tf.map_fn(tf.reduce_sum, ragged, fn_output_signature=tf.TensorSpec([], tf.float32)))()
    assert sums.numpy().tolist() == [3.0, 3.0]
    rows = tf.RaggedTensorSpec([None, 2], tf.float32, 0)
    lengths = wrap(lambda x: _of_lengths(lambda n: tf.ones([n, 2]), x, rows))(tf.constant([2, 0]))
    assert lengths.to_list() == [[[1, 1], [1, 1]], []]
    none = wrap(lambda x: _of_lengths(lambda n: tf.ones([n, 2]), x, rows))(tf.zeros([0], tf.int32))
    assert none.to_list() == [] and none.flat_values.shape == (0, 2)
    with pytest.raises(ValueError, match="Expected `fn` to return a RaggedTensor of ragged rank 1. But it returned"):
        _of_lengths(lambda n: tf.ones([n]), tf.constant([1, 2]), tf.RaggedTensorSpec([None, None], tf.float32, 1))


def test_the_type_of_ragged_results_is_that_of_all_together():
    kind = ragged_map_ops.RaggedTensorType(tf.int32, ragged_rank=1)
    assert tf.map_fn(lambda x: x + 1, tf.ragged.constant([[1, 2], [3]]), dtype=kind).to_list() == [[2, 3], [4]]
