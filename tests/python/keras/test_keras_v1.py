"""tf_keras, the package, as tf.keras of version 1: numbers and variables' names are TensorFlow 1.15.5's."""
import importlib.util
import os
import subprocess
import sys

import pytest

import penstock.v1 as tf

PROGRAM = """
import sys, tempfile
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers as L
from tensorflow.keras.initializers import Constant
np.random.seed(0)
X, Y = np.random.randn(32, 6).astype("float32"), np.random.randint(0, 3, 32)

x = tf.placeholder(tf.float32, [None, 6])
hidden = L.BatchNormalization()(L.Dense(4, activation="relu")(x))
y = L.Dense(3)(L.Dropout(0.5)(hidden))
train = tf.train.AdamOptimizer().minimize(tf.reduce_mean(tf.square(y)))
assert [v.name for v in tf.trainable_variables()] == [
    "dense/kernel:0", "dense/bias:0", "batch_normalization/gamma:0", "batch_normalization/beta:0", "dense_1/kernel:0",
    "dense_1/bias:0"] and len(tf.global_variables()) == 22 and y.name == "dense_1/BiasAdd:0"
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {x: X})

tf.reset_default_graph()
tf.keras.backend.clear_session()
model = tf.keras.Sequential([
    L.Dense(8, activation="relu", input_shape=(6,), kernel_initializer=Constant(0.1)),
    L.Dense(3, activation="softmax", kernel_initializer=Constant(0.2))])
model.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(X, Y, epochs=2, batch_size=8, verbose=0, shuffle=False).history
np.testing.assert_allclose(history["loss"], [1.0987, 1.0980], atol=1e-4)
np.testing.assert_allclose(history["acc"], [0.28125, 0.375])
np.testing.assert_allclose(model.evaluate(X, Y, verbose=0), [1.0971, 0.375], atol=1e-4)
assert [w.name for w in model.weights] == ["dense/kernel:0", "dense/bias:0", "dense_1/kernel:0", "dense_1/bias:0"]
path = tempfile.mkdtemp() + "/model.h5"
model.save(path)
np.testing.assert_allclose(tf.keras.models.load_model(path).predict(X), model.predict(X), rtol=1e-6)

tf.reset_default_graph()
tf.keras.backend.clear_session()
image = L.Input((8, 8, 1))
hidden = L.Flatten()(L.MaxPooling2D()(L.Conv2D(4, 3, padding="same", kernel_initializer=Constant(0.1))(image)))
model = tf.keras.Model(image, L.Dense(2, kernel_initializer=Constant(0.1))(hidden))
model.compile(tf.keras.optimizers.Adam(0.01), "mse")
losses = model.fit(np.ones((8, 8, 8, 1)), np.zeros((8, 2)), verbose=0, epochs=2).history["loss"]
np.testing.assert_allclose(losses, [33.1776, 21.1416], rtol=1e-5)
assert tf.keras.utils.to_categorical([1], 3).tolist() == [[0, 1, 0]] and tf.keras.datasets.mnist.load_data
assert tf.keras.preprocessing.sequence.pad_sequences([[1, 2]], 3).tolist() == [[0, 1, 2]]


class Subclassed(tf.keras.Model):
    def __init__(self):
        super(Subclassed, self).__init__()
        self.a, self.b = L.Dense(4), L.Dense(2)

    def call(self, x):
        return self.b(tf.nn.relu(self.a(x)))


tf.reset_default_graph()
tf.keras.backend.clear_session()
model = Subclassed()
y = model(tf.placeholder(tf.float32, [None, 6]))
assert y.name == "subclassed/dense_1/BiasAdd:0" and [v.name for v in model.trainable_variables] == [
    "subclassed/dense/kernel:0", "subclassed/dense/bias:0", "subclassed/dense_1/kernel:0", "subclassed/dense_1/bias:0"]
"""


@pytest.mark.skipif(any(importlib.util.find_spec(name) is None for name in ("tf_keras", "wrapt", "requests")),
                    reason="tf_keras is not installed")
def test_models_of_version_one(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    path = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run([sys.executable, "-m", "penstock", "--v1", str(program)], capture_output=True, text=True,
                          timeout=200, env=dict(os.environ, PYTHONPATH=path))
    assert done.returncode == 0, done.stderr


def test_what_is_absent_names_the_package():
    with pytest.raises(AttributeError, match="tf_keras"):
        tf.keras.Sequential
    assert "Model" in dir(tf.keras) and tf.keras.initializers.Ones


@pytest.mark.skipif(any(importlib.util.find_spec(name) is None for name in ("tf_keras", "wrapt", "requests", "six")),
                    reason="tf_keras is not installed")
def test_a_saved_model_of_keras_is_a_model_again(tmp_path):
    """Model.save as a directory: layers, weights and the optimizer come back, in a program of version 2."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", f"""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
from penstock import alias
alias.install("v2")
import numpy as np
import tensorflow as tf
inputs = tf.keras.Input((4,))
x = tf.keras.layers.LSTM(3)(tf.keras.layers.Reshape((2, 2))(tf.keras.layers.Dense(4, "relu")(inputs)))
model = tf.keras.Model(inputs, tf.keras.layers.BatchNormalization()(x))
model.compile("adam", "mse")
data = np.ones((4, 4), "float32")
model.fit(data, np.ones((4, 3)), verbose=0)
model.save({str(tmp_path)!r}, save_format="tf")
loaded = tf.keras.models.load_model({str(tmp_path)!r})
assert type(loaded) is type(model)
np.testing.assert_allclose(loaded.predict(data, verbose=0), model.predict(data, verbose=0), rtol=1e-5)
loaded.fit(data, np.ones((4, 3)), verbose=0)
"""], capture_output=True, text=True, timeout=300,
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p)))
    assert done.returncode == 0, done.stderr


def test_internal_modules_stand_under_tensorflows_names():
    from penstock._src.keras.engine import network, training
    assert tf.keras.Model is training.Model and issubclass(training.Model, network.Network)
