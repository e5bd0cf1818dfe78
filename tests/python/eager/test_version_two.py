"""`import penstock as tf`: in a process of its own, as it switches the behaviour of all of it."""
import subprocess
import sys

import pytest

PROGRAM = """
import penstock as tf
assert tf.executing_eagerly()
x = tf.constant([1.0, 2.0])
assert (x == x).numpy().all()
v = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = v * tf.reduce_sum(x, axis=0, keepdims=False)
assert tape.gradient(y, v).numpy() == 3
assert tf.math.reduce_max(x).numpy() == 2
assert tf.nn.relu(-x).numpy().tolist() == [0, 0]
tf.random.set_seed(1)
assert tf.random.uniform([2]).shape == (2,)
assert x.shape[0] == 2
assert tf.zeros_like([1, 2], dtype=tf.dtypes.float32).numpy().tolist() == [0, 0]
assert v.ref() == v.ref() and v.ref().deref() is v
assert tf.version.VERSION.startswith("2.") and not tf.inside_function()
with tf.name_scope("a"):
    assert tf.get_current_name_scope() == "a"
w = tf.Variable([1.0, 2.0], name="w")
for assign in w.assign, tf.function(w.assign):
    try:
        assign([1.0, 2.0, 3.0])
    except ValueError as e:
        assert "Cannot assign value to variable ' w:0': Shape mismatch.The variable shape (2,), and the " \\
            "assigned value shape (3,) are incompatible." in str(e), e
    else:
        assert False
for name in ("tuple", "hessians", "type_spec_from_value", "no_gradient", "get_logger", "load_op_library",
             "map_fn", "foldl", "foldr", "scan", "switch_case"):
    assert callable(getattr(tf, name))
try:
    tf.placeholder
except AttributeError as e:
    assert "placeholder" in str(e)
else:
    raise AssertionError("version 2 has no placeholder")
print("ok")
"""


def test_converting_may_come_first():
    program = "import penstock as tf; assert tf.convert_to_tensor([1.0]).numpy() == 1"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_program():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60)
    assert done.stdout == "ok\n", done.stderr


@pytest.mark.parametrize("said, eager, resources", [
    ("v1.disable_v2_behavior()", False, False), ("v1.disable_eager_execution()", False, True), ("", True, True)])
def test_what_a_program_has_said_holds(said, eager, resources):
    program = (f"import penstock.compat.v1 as v1\n{said}\nimport penstock\npenstock.constant(1)\n"
               f"assert v1.executing_eagerly() is {eager} and v1.resource_variables_enabled() is {resources}")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_version_two_that_builds_graphs_stays_version_two():
    """As in TensorFlow 2.21, whose loops then are what they are in functions."""
    program = """
from penstock import alias
alias.install("v2")
import tensorflow as tf
tf.compat.v1.disable_eager_execution()
assert tf.__internal__.tf2.enabled()
assert tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])[0].op.inputs[0].op.type == "StatelessWhile"
tf.compat.v1.disable_v2_behavior()
assert not tf.__internal__.tf2.enabled()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
