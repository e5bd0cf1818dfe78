"""What is told of shapes that do not fit, in the words of both versions."""
import pytest

import penstock as tf
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import map_fn
from penstock._src.ops.nn import nn_activation, nn_loss


def told(call, error=ValueError):
    with ops.Graph().as_default(), pytest.raises(error) as refused:
        call(array_ops.placeholder("float32", [2, 3], "p"), array_ops.placeholder("float32", [4, 5], "q"))
    return str(refused.value)


@pytest.mark.parametrize("call, what, node, op, shapes", [
    (lambda p, q: tf.matmul(p, q), "Dimensions must be equal, but are 3 and 4", "MatMul", "MatMul", "[2,3], [4,5]"),
    (lambda p, q: p - q, "Dimensions must be equal, but are 2 and 4", "sub", "Sub", "[2,3], [4,5]"),
    (lambda p, q: tf.nn.bias_add(p, q[0]), "Dimensions must be equal, but are 3 and 5", "BiasAdd", "BiasAdd",
     "[2,3], [5]"),
    (lambda p, q: tf.squeeze(p, [0], name="a/b"), "Can not squeeze dim[0], expected a dimension of 1, got 2", "a/b",
     "Squeeze", "[2,3]"),
])
def test_the_node_is_told_in_the_words_of_the_version(call, what, node, op, shapes, monkeypatch):
    from penstock._src.base import tf2
    assert told(call).startswith(f"{what} for '{node}' (op: '{op}') with input shapes: {shapes}")
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    text = told(call)
    assert text.startswith(f"{what} for '{{{{node {node}}}}} = {op}") and f"with input shapes: {shapes}" in text


def test_shapes_that_contradict_what_is_known():
    assert told(lambda p, q: p.set_shape([2, 4])) == \
        "Dimension 1 in both shapes must be equal, but are 3 and 4. Shapes are [2,3] and [2,4]."
    assert told(lambda p, q: p.set_shape([None, 4])) == \
        "Dimension 1 in both shapes must be equal, but are 3 and 4. Shapes are [2,3] and [?,4]."
    assert told(lambda p, q: p.set_shape([2])) == "Shapes must be equal rank, but are 2 and 1"


@pytest.mark.parametrize("call, first, second", [
    (lambda p, q: tf.stack([p, p], axis=5), "axis = 5 not in [-3, 3)", "Argument `axis` = 5 not in range [-3, 3)"),
    (lambda p, q: tf.unstack(p, axis=4), "axis = 4 not in [-2, 2)", "Argument `axis` = 4 not in range [-2, 2)"),
    (lambda p, q: nn_loss.sigmoid_cross_entropy_with_logits(labels=p, logits=q),
     "logits and labels must have the same shape ((4, 5) vs (2, 3))",
     "`logits` and `labels` must have the same shape, received ((4, 5) vs (2, 3))."),
    (lambda p, q: nn_loss.sparse_softmax_cross_entropy_with_logits(labels=[[1]], logits=p),
     "Rank mismatch: Rank of labels (received 2) should equal rank of logits minus 1 (received 2).",
     "`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: labels.shape=(1, 1) of rank 2 and "
     "logits.shape=(2, 3) of rank 2"),
    (lambda p, q: nn_loss.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=p),
     "Shape mismatch: The shape of labels (received (1,)) should equal the shape of logits except for the last "
     "dimension (received (2, 3)).",
     "`labels.shape` must equal `logits.shape` except for the last dimension. Received: labels.shape=(1,) and "
     "logits.shape=(2, 3)"),
    (lambda p, q: nn_loss.sigmoid_cross_entropy_with_logits(labels=None, logits=1),
     "Both labels and logits must be provided.", "Both `labels` and `logits` must be provided for"),
    (lambda p, q: nn_activation.dropout_v2(p, rate=2), "rate must be a scalar tensor or a float in the range [0, 1), "
     "got 2", "`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate=2"),
    (lambda p, q: nn_activation.dropout_v2([1], rate=.5), "x has to be a floating point tensor",
     "`x.dtype` must be a floating point tensor as `x` will be scaled. Received: x_dtype=<dtype: 'int32'>"),
])
def test_arguments_are_refused_in_the_words_of_the_version(call, first, second, monkeypatch):
    from penstock._src.base import tf2
    assert told(call).startswith(first)
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    assert told(call).startswith(second)


def test_constants_of_another_size(version_two):
    with pytest.raises(TypeError) as refused:
        tf.constant([1, 2, 3], shape=[2, 2])
    assert str(refused.value) == ("Eager execution of tf.constant with unsupported shape. Tensor [1 2 3] (converted "
                                  "from [1, 2, 3]) has 3 elements, but got `shape` (2, 2) with 4 elements).")
    assert told(lambda p, q: tf.constant([1, 2, 3], shape=[2, 2]), TypeError) == \
        "Expected Tensor's shape: (2, 2), but got (3,)."


def test_functions_of_map_fn_are_not_converted_in_version_one():
    def absolute(x):
        return x if x > 0 else -x
    told(lambda p, q: map_fn.map_fn(lambda x: absolute(x), p[0]), TypeError)
