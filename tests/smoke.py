"""What a freshly installed Penstock must be able to do; run with the interpreter of a clean environment."""
import importlib.metadata
import importlib.resources
import os
import subprocess
import sys

import numpy as np

import penstock
import penstock.v1 as tf

version = importlib.metadata.version("penstock")
assert penstock.__version__ == version
package = importlib.resources.files("penstock")
for name in ("descriptors.pb", "libpenstock_onednn.so", "py.typed", "__init__.pyi", "v1/__init__.pyi",
             "_src/graph/gen.pyi"):
    assert (package / name).is_file(), name

# A model with a convolution and a product, so that the oneDNN module is loaded; it must learn y = mean of the image.
rng = np.random.default_rng(0)
images = rng.standard_normal((64, 8, 8, 1)).astype(np.float32)
means = images.mean(axis=(1, 2, 3), keepdims=False).reshape(-1, 1)
x = tf.placeholder(tf.float32, [None, 8, 8, 1])
y = tf.placeholder(tf.float32, [None, 1])
kernel = tf.Variable(0.1 * np.ones((3, 3, 1, 4), np.float32))
weights = tf.Variable(np.zeros((256, 1), np.float32))
features = tf.nn.conv2d(x, kernel, strides=[1, 1, 1, 1], padding="SAME")
loss = tf.reduce_mean(tf.square(tf.matmul(tf.reshape(features, [-1, 256]), weights) - y))
train = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    first = sess.run(loss, {x: images, y: means})
    for _ in range(50):
        sess.run(train, {x: images, y: means})
    last = sess.run(loss, {x: images, y: means})
assert last < first / 4, (first, last)

# The messages, with whichever protobuf is installed.
graph_def = tf.get_default_graph().as_graph_def()
again = type(graph_def).FromString(graph_def.SerializeToString())
assert [node.name for node in again.node] == [op.name for op in tf.get_default_graph().get_operations()]


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


command = os.path.join(os.path.dirname(sys.executable), "penstock")
for asked in ((command, "--version"), (command, "doctor"), (sys.executable, "-m", "penstock", "--version")):
    said = output(*asked)
    assert version in said, said
print(f"  Penstock {version}, Python {sys.version.split()[0]}, NumPy {np.__version__}, "
      f"protobuf {importlib.metadata.version('protobuf')}: works")
