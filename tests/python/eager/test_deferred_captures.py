"""capture_call_time_value: values that a function takes when it is called, also through functions and control flow."""
import pytest

import penstock as tf
from penstock.eager import context
from penstock.framework import ops, tf2


@pytest.fixture(autouse=True)
def eagerly():
    with context.eager_mode():
        yield


def test_through_functions_and_control_flow():
    value = 1.0

    @tf.function
    def inner(x):
        return x + ops.get_default_graph().capture_call_time_value(lambda: value, tf.TensorSpec([]))

    @tf.function
    def branch(x):
        return tf.cond(x > 0, lambda: inner(x), lambda: x)

    @tf.function
    def loop(x):
        for _ in tf.range(2):
            x = inner(x)
        return x

    outer = tf.function(lambda x: inner(x) + inner(x))
    x = tf.constant(2.0)
    for value, wanted in (  # noqa: B020
            (1.0, [3.0, 6.0, 3.0, 4.0]), (2.0, [4.0, 8.0, 4.0, 6.0]), (tf.constant(5.0), [7, 14, 7, 12])):
        assert [float(f(x)) for f in (inner, outer, branch, loop)] == wanted


@pytest.mark.parametrize("version, error", [(1, ValueError), (2, TypeError)])
def test_values_of_another_kind_are_refused(monkeypatch, version, error):
    monkeypatch.setattr(tf2, "enabled", lambda: version == 2)
    value = tf.constant(1.0)

    @tf.function
    def f():
        return ops.get_default_graph().capture_call_time_value(lambda: value, tf.TensorSpec([]))

    assert float(f()) == 1.0
    for value in (tf.constant(1), tf.constant([1.0]), "text"):
        with pytest.raises(error, match="Can not cast|Cannot convert"):
            f()
