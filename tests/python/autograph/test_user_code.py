"""Errors of functions that are traced say which lines of the program led there, in TensorFlow's form."""
import re

import pytest

import penstock as tf
from penstock._src.graph import context
from penstock._src.base import tf2


@pytest.fixture(autouse=True)
def eagerly(monkeypatch):
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    with context.eager_mode():
        yield


def grown(x):
    for i in tf.range(3):
        x = tf.concat([x, x], 0)
    return x


def plain(x):
    return grown(x)


class Special(Exception):
    def __init__(self, message, more):
        super().__init__(message)
        self.more = more


class Own(ValueError):
    pass


def message_of(f, *args, error=ValueError, exactly=True):
    with pytest.raises(error) as e:
        f(*args)
    assert not exactly or type(e.value) is error
    return str(e.value), e.value


def shown(message):
    return re.findall(r'    File ".*test_user_code.py", line \d+, in (\S+  \*)\n        (.*)\n', message)


def test_the_calls_that_led_there():
    inner = tf.function(plain)

    @tf.function
    def outer(x):
        return inner(x)

    message, error = message_of(outer, tf.ones([3]))
    assert message.startswith('in user code:\n\n    File "') and shown(message) == [
        ("outer  *", "return inner(x)"), ("plain  *", "return grown(x)"), ("grown  *", "for i in tf.range(3):")]
    assert message.count("in user code") == 1 and "python/penstock/" not in message
    assert message.endswith("\n\n    ValueError: 'x' has shape (3,) before the loop, but shape (6,) after one "
                            "iteration. Use tf.autograph.experimental.set_loop_options to set shape invariants.\n")
    names, trace = [], error.__traceback__
    while trace is not None:
        names.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    assert "grown" in names  # Python's own traceback still leads there


def test_branches_and_bodies_are_their_functions():
    @tf.function
    def deep(x):
        while x > 0.0:
            if x > 5.0:
                x = tf.ones([2]) @ x
            x -= 1.0
        return x

    message, error = message_of(deep, tf.constant(3.0))
    assert shown(message) == [("deep  *", "x = tf.ones([2]) @ x")]
    names, trace = [], error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == __file__:
            names.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    assert names[-3:] == ["deep", "deep", "deep"]


def test_classes_of_errors():
    def raising(make):
        @tf.function
        def f(x):
            raise make()
        return f

    message, error = message_of(raising(lambda: KeyError("abc")), 1, error=KeyError, exactly=False)
    assert message.endswith("\n    KeyError: 'abc'\n") and type(error).__name__ == "KeyError" and error.args == ("abc",)
    message, _ = message_of(raising(lambda: Own("two\nlines")), 1, error=Own)
    assert message.endswith("\n    Own: two\n    lines\n")
    message, error = message_of(raising(lambda: Special("abc", 3)), 1, error=Special)
    assert message == "abc" and error.more == 3  # which nobody else can make
    message, error = message_of(raising(lambda: tf.errors.NotFoundError(None, None, "gone")), 1,
                                error=tf.errors.NotFoundError)
    assert shown(error.message) and error.message.endswith("\n    NotFoundError: gone\n")

    def caused():
        error = TypeError("outer")
        error.__cause__ = OSError("inner")
        return error

    assert isinstance(message_of(raising(caused), 1, error=TypeError)[1].__cause__, OSError)


def test_what_is_not_converted_is_not_described():
    @tf.function(autograph=False)
    def f(x):
        if x > 0:
            return x

    message, _ = message_of(f, tf.constant(1), error=TypeError, exactly=False)
    assert message.startswith("Using a symbolic `tf.Tensor` as a Python `bool` is not allowed. You can attempt")
    with pytest.raises(tf.errors.InvalidArgumentError, match="^[^i]"):
        tf.function(lambda x: 1 // x)(tf.constant(0))


def test_functions_of_datasets_and_of_version_one(monkeypatch):
    def mapped(x):
        return tf.reshape(x, [3]) + undefined  # noqa: F821

    message, _ = message_of(lambda: tf.data.Dataset.from_tensors(tf.ones([3])).map(mapped), error=NameError)
    assert shown(message) == [("mapped  *", "return tf.reshape(x, [3]) + undefined  # noqa: F821")]
    monkeypatch.setattr(tf2, "enabled", lambda: False)
    message, _ = message_of(tf.function(plain), tf.ones([3]))
    assert re.match(r"in converted code:\n\n    \S*test_user_code.py:\d+ plain  \*\n        return grown\(x\)\n",
                    message)
