"""tf.debugging's switches: what the process does with every op that runs."""
import os
import subprocess
import sys

import numpy as np
import pytest

import penstock as tf2
import penstock.v1 as tf
from penstock._src.graph import context


@pytest.fixture
def checking():
    tf.debugging.enable_check_numerics()
    tf.debugging.enable_check_numerics()  # once is enough
    yield
    tf.debugging.disable_check_numerics()
    tf.debugging.disable_check_numerics()


def test_results_of_eager_ops_are_checked(checking):
    with context.eager_mode():
        assert tf2.math.log(tf2.constant([1.0, 2.0])).shape == (2,)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Detected Infinity or NaN in output 0 of op \"Log\" "
                           r"\(# of outputs: 1\)[^:]*dtype: float\n  shape: \[3\]\n  # of -Inf elements: 2\n"
                           r"  # of NaN elements: 1\n : Tensor had -Inf and NaN values"):
            tf2.math.log(tf2.constant([0.0, -1.0, 0.0]))
        tf.debugging.disable_check_numerics()
        assert np.isinf(tf2.math.log(tf2.constant(0.0)).numpy())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_results_in_functions_are_checked(checking, dtype):
    @tf2.function
    def f(x):
        return tf2.exp(tf2.reshape(x * 1000, [2]), name="grows") - 1

    with context.eager_mode():
        f(tf2.constant([0.0, 0.0], dtype))
        # In a function the two ops may run as one.
        with pytest.raises(tf.errors.InvalidArgumentError,
                           match=r"op \"(Exp|_FusedElementwise)\"(.|\n)*# of \+Inf elements: 1"):
            f(tf2.constant([0.0, 1.0], dtype))


def test_results_in_sessions_are_checked(checking):
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2])
        loss = tf.reduce_sum(tf.sqrt(x))
        slope, = tf.gradients(loss, x)
        assert sess.run(loss, {x: [1.0, 4.0]}) == 3.0
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"# of \+Inf elements: 1(.|\n)*gradients"):
            sess.run(slope, {x: [0.0, 1.0]})  # no op of the program, but one of its gradient

        # A loop, and a step of several devices' kind, where kernels run on other threads.
        _, last = tf.while_loop(lambda i, v: i < 5, lambda i, v: (i + 1, v * v), [0, x])
        with pytest.raises(tf.errors.InvalidArgumentError, match="Detected Infinity or NaN"):
            sess.run(last, {x: [1e10, 1.0]})


def test_moved_values_and_integers_pass(checking):
    with context.eager_mode():
        bad = tf2.constant([np.nan, np.inf])
        assert tf2.reshape(bad, [2, 1]).shape == (2, 1)
        assert (tf2.constant([1, 2]) + 1).numpy().tolist() == [2, 3]


def test_placement_is_logged():
    program = """
import penstock as tf
from penstock._src.graph import context
assert not tf.debugging.get_log_device_placement()
tf.debugging.set_log_device_placement(True)
tf.exp(tf.constant([1.0]))
assert tf.debugging.get_log_device_placement() and context.context().log_device_placement
with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
    sess.run(tf.cos(tf.constant([1.0]), name="c"))
tf.debugging.set_log_device_placement(False)
tf.sin(tf.constant([1.0]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert "Executing op Exp in device /job:localhost/replica:0/task:0/device:CPU:0\n" in done.stderr
    assert "c: (Cos): /job:localhost/replica:0/task:0/device:CPU:0\n" in done.stderr and "Sin" not in done.stderr


def test_traceback_filtering_is_a_switch():
    assert tf.debugging.is_traceback_filtering_enabled()
    tf.debugging.disable_traceback_filtering()
    assert not tf.debugging.is_traceback_filtering_enabled()
    tf.debugging.enable_traceback_filtering()
    assert tf.debugging.is_traceback_filtering_enabled()
