"""`experimental_enable_numpy_behavior` changes a whole process: this is one of its own, with TensorFlow's results."""
import subprocess
import sys

PROGRAM = """
import numpy as np, penstock as tf
tnp = tf.experimental.numpy
a = tf.constant([1, 2, 3])
try:
    a.reshape(3, 1)
except AttributeError as e:
    assert "experimental_enable_numpy_behavior" in str(e)
try:
    tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="x")
    raise SystemExit("taken")
except ValueError:
    pass
tnp.experimental_enable_numpy_behavior()
m = tf.reshape(tf.range(12), [3, 4])

def check(value, expected, dtype):
    assert value.dtype == dtype, value
    np.testing.assert_array_equal(value, expected)

check(a + 1.5, [2.5, 3.5, 4.5], tf.float64)
check(1.5 + a, [2.5, 3.5, 4.5], tf.float64)
check(a + tf.constant(1.0), [2, 3, 4], tf.float64)
check(tf.constant(1.0) + 1.5, 2.5, tf.float32)
check(np.array([1.0, 2, 3]) * a, [1, 4, 9], tf.float64)
check(a + [1.0, 2, 3], [2, 4, 6], tf.float64)
check(tf.constant(True) + 1, 2, tf.int64)
check(a & True, [1, 0, 1], tf.int32)
check(a < 2.5, [True, True, False], tf.bool)
check(a == tf.constant([1.0, 2, 4]), [True, True, False], tf.bool)
check(2.0 ** a, [2, 4, 8], tf.float64)
check(a @ a, 14, tf.int32)
check(tf.constant("a") + "b", b"ab", tf.string)
check(tf.Variable([1, 2]) + 1.5, [2.5, 3.5], tf.float64)
check(tf.function(lambda x: (x + 1.5 == x + 0.5).astype(tf.int8))(a), [0, 0, 0], tf.int8)
check(a.astype(np.float32).mean(), 2, tf.float32)
check(round(tf.constant(1.6)), 2, tf.float32)
check(m.T, m.numpy().T, tf.int32)
check(+a.clip(2, 3).ravel(), [2, 2, 3], tf.int32)
assert a.size == 3 and a.ndim == 1 and a.tolist() == [1, 2, 3] and m.max() == 11 and m.min() == 0
assert m.transpose().flatten().reshape(2, 6).data.shape == [2, 6]

n = m.numpy()
big = tf.reshape(tf.range(24), [2, 3, 4])
for t, x in ((m, n), (big, big.numpy())):
    for spec in ([0, 1], (slice(None), [2, -1]), ([0, 1], [1, 2]), np.array([[0, 1], [1, 0]]), (Ellipsis, [0, 0, 2]),
                 (None, [1, 0]), ([[0], [1]], [0, 2]), (1, [0, 2]), np.array([True, False, True][:len(x)]),
                 (slice(None), np.array([True, False, True, True][:x.shape[1]]))):
        np.testing.assert_array_equal(t[spec], x[spec], err_msg=str(spec))
np.testing.assert_array_equal(big[:, [0, 1], [1, 2]], big.numpy()[:, [0, 1], [1, 2]])
np.testing.assert_array_equal(big[[0, 1], :, [1, 2]], big.numpy()[[0, 1], :, [1, 2]])
np.testing.assert_array_equal(m[m > 5], n[n > 5])
np.testing.assert_array_equal(tf.function(lambda x: x[:, [1, 0]])(m), n[:, [1, 0]])
tnp.experimental_enable_numpy_behavior(prefer_float32=True)
check(tnp.array(1.5) + 1, 2.5, tf.float32)
print("ok")
"""


def test_tensors_behave_as_arrays():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60)
    assert done.stdout == "ok\n", done.stderr
