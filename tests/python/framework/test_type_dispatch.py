"""tf.experimental.dispatch_for_*: what public functions call for a program's own types; answers are 2.21's."""
import typing

import numpy as np
import pytest

import penstock as tf
from penstock._src.graph import context


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


class Masked(tf.experimental.ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor


@pytest.fixture
def register():
    """Registers a function with a decorator; it is forgotten after the test."""
    made = []

    def one(decorator, function):
        made.append(decorator(function))
        return made[-1]

    yield one
    for function in made:
        tf.experimental.unregister_dispatch_for(function)


def _masked(*pairs):
    return Masked([v for v, _ in pairs], [m for _, m in pairs])


def _lists(value):
    return value.values.numpy().tolist(), value.mask.numpy().tolist()


ONE, TWO = [(1.0, True), (2.0, False)], [(10.0, True), (20.0, True)]


def test_a_signature(register):
    def add(x, y):
        return Masked(tf.add(x.values, y.values), tf.logical_and(x.mask, y.mask))

    x, y = _masked(*ONE), _masked(*TWO)
    register(tf.experimental.dispatch_for_api(tf.math.add, {"x": Masked, "y": Masked}), add)
    assert _lists(tf.add(x, y)) == ([11.0, 22.0], [True, False])
    assert _lists(tf.math.add(x, y=y, name="sum")) == ([11.0, 22.0], [True, False])
    with pytest.raises(ValueError, match="Attempt to convert a value"):
        tf.add(x, 1.0)


def test_several_signatures_and_unions(register):
    register(tf.experimental.dispatch_for_api(tf.subtract, {"x": Masked}, {"y": Masked}), lambda x, y: "either")
    either = typing.Union[Masked, tf.Tensor]
    register(tf.experimental.dispatch_for_api(tf.multiply, {"x": either, 1: either}), lambda x, y: "both")
    x, one = _masked(*ONE), tf.constant([1.0])
    assert (tf.subtract(x, 1.0), tf.subtract(1.0, x), tf.subtract(x, x)) == ("either",) * 3
    assert (tf.multiply(x, one), tf.multiply(one, x)) == ("both",) * 2
    assert tf.multiply(one, one).numpy() == 1.0  # no composite value among them
    with pytest.raises(ValueError, match="Attempt to convert a value"):
        tf.multiply(x, 1.0)


def test_annotations_and_lists(register):
    def concat(values: typing.List[Masked], axis, name="concat"):
        return Masked(tf.concat([v.values for v in values], axis), tf.concat([v.mask for v in values], axis))

    register(tf.experimental.dispatch_for_api(tf.concat), concat)
    assert _lists(tf.concat([_masked(*ONE), _masked(*TWO)], 0)) == ([1.0, 2.0, 10.0, 20.0], [True, False, True, True])
    assert tf.concat([[1.0], [2.0]], 0).numpy().tolist() == [1.0, 2.0]


def test_functions_that_know_no_other_values(register):
    def shape(input: Masked, out_type=tf.int32):
        return tf.shape(input.values, out_type)

    register(tf.experimental.dispatch_for_api(tf.shape), shape)
    assert tf.shape(_masked(*ONE)).numpy().tolist() == [2]
    assert tf.shape([[1]]).numpy().tolist() == [1, 1]
    signature = {"input_tensor": Masked}
    register(tf.experimental.dispatch_for_api(tf.reduce_sum, signature),
             lambda input_tensor, axis=None, keepdims=False: (axis, keepdims))
    assert tf.reduce_sum(_masked(*ONE), 1, True, name="q") == (1, True)


def test_unary_functions(register):
    register(tf.experimental.dispatch_for_unary_elementwise_apis(Masked), lambda api, x: Masked(api(x.values), x.mask))
    x = _masked(*ONE)
    for api, expected in [(tf.abs, [1.0, 2.0]), (lambda x: tf.cast(x, tf.int32), [1, 2]),
                          (lambda x: tf.clip_by_value(x, 0.0, 1.0), [1.0, 1.0]), (tf.zeros_like, [0.0, 0.0]),
                          (lambda x: tf.image.adjust_brightness(x, 0.5), [1.5, 2.5]),
                          (lambda x: tf.math.square(x=x, name="q"), [1.0, 4.0])]:
        assert _lists(api(x)) == (expected, [True, False])
    np.testing.assert_allclose(tf.nn.gelu(x).values, [0.8413447, 1.9544997], rtol=1e-6)
    assert _lists(tf.function(tf.math.negative)(x)) == ([-1.0, -2.0], [True, False])
    with pytest.raises(ValueError, match="has already been registered for"):
        tf.experimental.dispatch_for_unary_elementwise_apis(Masked)(lambda api, x: x)


def test_binary_functions(register):
    def both(api, x, y):
        return Masked(api(x.values, y.values), tf.math.logical_and(x.mask, y.mask))

    register(tf.experimental.dispatch_for_binary_elementwise_apis(Masked, Masked), both)
    register(tf.experimental.dispatch_for_binary_elementwise_assert_apis(Masked, Masked),
             lambda api, x, y: api(x.values, y.values))
    x, y = _masked(*ONE), _masked(*TWO)
    assert _lists(tf.maximum(x, y)) == ([10.0, 20.0], [True, False])
    assert _lists(tf.equal(x, y)) == ([False, False], [True, False])
    assert _lists(tf.pow(x, y)) == ([1.0, 2.0 ** 20], [True, False])
    tf.debugging.assert_less(x, y)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.debugging.assert_less(y, x)
    register(tf.experimental.dispatch_for_api(tf.maximum, {"x": Masked}), lambda x, y: 1)
    with pytest.raises(ValueError, match="Multiple dispatch targets .* match the arguments to maximum"):
        tf.maximum(x, y)


def test_ragged_tensors_are_compared():
    x = tf.ragged.constant([[1], [2, 3]])
    tf.debugging.assert_equal(x, x)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.debugging.assert_less(x, x)


@pytest.mark.parametrize("signatures, function, error, message", [
    ([{"x": Masked}], lambda a, b: 1, ValueError,
     "Dispatch function's signature (a, b, name=None) does not match API's signature (x, y, name=None)."),
    ([{"q": Masked}], lambda x, y: 1, ValueError, "signature includes annotation for unknown parameter 'q'."),
    ([], lambda x, y: 1, ValueError,
     "The dispatch_for_api decorator must be called with at least one signature, or applied to a function that has "
     "type annotations on its parameters."),
    ([[Masked]], lambda x, y: 1, TypeError, "signatures must be dictionaries mapping parameter names to type "
                                            "annotations."),
    ([{"x": Masked}], 3, TypeError, "Expected dispatch_target to be callable; got 3"),
])
def test_wrong_registrations(signatures, function, error, message):
    with pytest.raises(error) as info:
        tf.experimental.dispatch_for_api(tf.math.divide, *signatures)(function)
    assert str(info.value) == message


def test_other_functions():
    with pytest.raises(ValueError, match="does not support dispatch"):
        tf.experimental.dispatch_for_api(len, {"x": Masked})
    with pytest.raises(ValueError, match="was not registered using"):
        tf.experimental.unregister_dispatch_for(len)
    with pytest.raises(ValueError, match="is not currently supported by dispatch"):
        tf.experimental.dispatch_for_unary_elementwise_apis(typing.Tuple[Masked])
