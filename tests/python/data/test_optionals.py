"""Elements that may be absent, as values. What adding them says is TensorFlow's."""
import pytest

import penstock.v1 as tf
from penstock._src.data.ops import optional_ops
from penstock._src.data.ops.optional_ops import Optional

INT = tf.TensorSpec([], tf.int32)


@pytest.fixture(params=[False, True], ids=["graph", "eager"])
def value(request):
    """How a tensor's value is seen."""
    if request.param:
        from penstock._src.graph import context
        with context.eager_mode():
            yield lambda t: t.numpy().tolist()
    else:
        with tf.Graph().as_default(), tf.Session() as session:
            yield lambda t: session.run(t).tolist()


def of(variant, like):
    return optional_ops._OptionalImpl(variant, like.value_structure)


def test_sums_and_zeros(value):
    a, b = Optional.from_value((1.0, [2, 3])), Optional.from_value((3.5, [4, 5]))
    total = of(tf.add_n([a._variant_tensor, b._variant_tensor]), a).get_value()
    assert [value(t) for t in total] == [4.5, [6, 8]]
    assert [value(t) for t in of(tf.zeros_like(a._variant_tensor), a).get_value()] == [0.0, [0, 0]]


def test_optionals_in_optionals(value):
    a, b = Optional.from_value(1), Optional.from_value(5)
    outer = [Optional.from_value((2.0, x._variant_tensor)) for x in (a, b)]
    number, inner = of(tf.add_n([x._variant_tensor for x in outer]), outer[0]).get_value()
    assert (value(number), value(of(inner, a).get_value())) == (4.0, 6)
    assert value(of(of(tf.zeros_like(outer[0]._variant_tensor), outer[0]).get_value()[1], a).get_value()) == 0


def test_without_values(value):
    none, one = optional_ops.Optional.none_from_structure(INT), Optional.from_value(1)
    assert not value(of(tf.add_n([none._variant_tensor] * 2), one).has_value())
    assert not value(of(tf.zeros_like(none._variant_tensor), one).has_value())
    with pytest.raises(tf.errors.InvalidArgumentError, match="one has a value and the other doesn't"):
        value(of(tf.add_n([none._variant_tensor, one._variant_tensor]), one).has_value())
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"different numbers of components \(1 vs. 2\)"):
        value(of(tf.add_n([one._variant_tensor, Optional.from_value((1, 2))._variant_tensor]), one).has_value())
