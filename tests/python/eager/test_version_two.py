"""`import penstock as tf`: in a process of its own, as it switches the behaviour of all of it."""
import subprocess
import sys

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
try:
    tf.placeholder
except AttributeError as e:
    assert "placeholder" in str(e)
else:
    raise AssertionError("version 2 has no placeholder")
print("ok")
"""


def test_program():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60)
    assert done.stdout == "ok\n", done.stderr
