"""Tracebacks of version 2, which show the program's frames and the innermost one."""
import traceback

import pytest

import penstock.v2 as tf
from penstock._src.base import tf2
from penstock._src.base import traceback_utils


@pytest.fixture(autouse=True)
def version_two(monkeypatch):
    from penstock._src.graph import context
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    with context.eager_mode():
        yield
    traceback_utils.enable_traceback_filtering()


def _frames(function):
    with pytest.raises(Exception) as caught:
        function()
    frames = traceback.extract_tb(caught.value.__traceback__)
    return [frame.name for frame in frames if frame.filename == __file__], len(frames)


def _operator():
    return tf.zeros([2, 3]) + tf.zeros([2, 4])


def _function():
    return tf.reshape(tf.zeros([2]), [3])


@tf.function
def _traced():
    return _operator()


def _variable():
    return tf.Variable()


def _with_callback():
    def inner(x):
        raise KeyError(x)

    return tf.nest.map_structure(lambda x: tf.image.resize(inner(x), [1, 1]), [1])


@pytest.mark.parametrize("function, own, most", [
    (_operator, ["_operator"], 4), (_function, ["_function"], 4), (lambda: _traced(), ["_traced", "_operator"], 12),
    (_variable, ["_variable"], 4)])
def test_frames_of_the_package_are_left_out(function, own, most):
    traceback_utils.enable_traceback_filtering()
    names, count = _frames(function)
    assert names[-len(own):] == own and count <= most
    traceback_utils.disable_traceback_filtering()
    all_names, all_count = _frames(function)
    assert all_names[-len(own):] == own and all_count > count


def test_a_decorator_for_functions_of_a_librarys_own():
    @traceback_utils.filter_traceback
    def function():
        """Says."""
        return tf.convert_to_tensor(object())

    assert function.__doc__ == "Says."
    error = pytest.raises(ValueError, function).value
    frames = traceback.extract_tb(error.__traceback__)
    assert all(traceback_utils.include_frame(frame.filename) for frame in frames[2:-1])
