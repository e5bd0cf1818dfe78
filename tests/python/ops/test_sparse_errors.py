"""What sparse ops say of wrong inputs: when they run, in the words of TensorFlow 1.15.5 and 2.21."""
import pytest

import penstock.v1 as tf


def sparse(shape):
    return tf.SparseTensor([[0] * len(shape)], [1], shape)


@pytest.mark.parametrize("build, message", [
    (lambda: tf.sparse.concat(1, [sparse([3, 3]), sparse([2, 3])]),
     "Input shapes must match: expected 3 for dimension 0 but got 2 at position 1"),
    (lambda: tf.sparse.maximum(sparse([3, 3]), sparse([2])),
     "Operands do not have the same ranks; got shapes: 3 3 and 2"),
    (lambda: tf.sparse.minimum(sparse([3, 3]), sparse([2, 3])),
     "Operands' shapes do not match: got 3 and 2 for dimension 0"),
    (lambda: tf.sparse.reduce_sum(sparse([3, 3]), -3), "Invalid reduction dimension -3, for input with 2 dimensions."),
    (lambda: tf.sparse.reduce_max(sparse([3, 3]), 2), "Invalid reduction dimension 2, for input with 2 dimensions."),
    (lambda: tf.sparse.split(sp_input=sparse([3, 3]), num_split=3, axis=[1, 2])[0],
     r"Input axis should be a scalar but received shape \[2\]"),
    (lambda: tf.sparse.split(sp_input=sparse([3, 3]), num_split=3, axis=2)[0],
     r"Input axis should be in range \[-2, 2\), got 2"),
])
def test_refused_when_run(build, message):
    with tf.Graph().as_default(), tf.Session() as session:
        made = build()
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(made)


@pytest.mark.parametrize("op", ["SparseReduceSum", "SparseReduceMax", "SparseReduceSumSparse", "SparseReduceMaxSparse"])
def test_shapes_that_cannot_be_counted_are_not_reduced(op):
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="too many elements"):
        session.run(getattr(tf.raw_ops, op)(input_indices=[[1, 2]], input_shape=[2**32, 2**31], input_values=[1],
                                            reduction_axes=[0]))
