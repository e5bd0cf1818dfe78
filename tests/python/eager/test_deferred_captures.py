"""capture_call_time_value: values that a function takes when it is called, also through functions and control flow."""
import pytest

import penstock as tf
from penstock._src.graph import context
from penstock._src.graph import ops
from penstock._src.base import tf2


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


def test_captures_of_a_trace_are_replaced(monkeypatch):
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    x, y, z = tf.constant(1.0), tf.constant(2.0), tf.ones([300])
    f = tf.function(lambda: x + y + z[0])
    trace = f.get_concrete_function()
    assert float(trace()) == float(f()) == float(f()) == 4.0
    value = tf.constant(5.0)
    trace.replace_capture_with_deferred_capture(y, lambda: value, spec=tf.TensorSpec([]))
    assert float(trace()) == float(f()) == 7.0
    value = tf.constant(6.0)
    assert float(trace()) == float(f()) == float(tf.function(lambda: f() * 1.0)()) == 8.0
    with pytest.raises(ValueError, match="Attempting to substitute closure with spec"):
        trace.replace_capture_with_deferred_capture(x, lambda: value, spec=tf.TensorSpec([2]))
    with pytest.raises(ValueError, match="Did not find `tensor` argument"):
        trace.replace_capture_with_deferred_capture(tf.constant(9.0), lambda: value, spec=tf.TensorSpec([]))
    trace.set_external_captures([tf.constant(10.0), lambda: value, z])
    assert float(trace()) == float(f()) == 17.0

    v, w = tf.Variable(1.0), tf.Variable(5.0)
    trace = tf.function(lambda a: a * v).get_concrete_function(tf.TensorSpec([]))
    trace.set_external_captures([w.handle])
    assert float(trace(tf.constant(2.0))) == 10.0
