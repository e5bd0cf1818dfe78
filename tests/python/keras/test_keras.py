"""Keras 3, the package, on Penstock: the same numbers as on TensorFlow 2.21, and tf.keras."""
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
needs_keras = pytest.mark.skipif(importlib.util.find_spec("keras") is None, reason="Keras is not installed")


def run(*arguments):
    """What `python ARGUMENTS` prints in a process of its own, which is a program of version 2."""
    path = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=280,
                          env=dict(os.environ, PYTHONPATH=path, KERAS_BACKEND="tensorflow"))
    assert done.returncode == 0, done.stderr
    return done.stdout


def program(source):
    return run("-c", "from penstock import alias\nalias.install('v2')\nimport tensorflow as tf\n" + source)


def same(numbers, wanted, where=""):
    if isinstance(wanted, dict):
        assert sorted(numbers) == sorted(wanted), where
        for name in wanted:
            same(numbers[name], wanted[name], f"{where} {name}")
    else:
        assert numbers == pytest.approx(wanted, abs=2e-4), where


@needs_keras
@pytest.mark.parametrize("how", [[], pytest.param(["eager"], marks=pytest.mark.slow)], ids=["functions", "eager"])
def test_training_gives_tensorflows_numbers(how):
    numbers = json.loads(run("-m", "penstock", "--v2", str(HERE / "programs.py"), *how))
    same(numbers, json.loads((HERE / "recorded.json").read_text()))


@needs_keras
def test_models_are_saved_and_loaded(tmp_path):
    program(f"""
import keras, numpy as np
from keras import layers
x, y = np.random.rand(32, 4).astype("float32"), np.random.rand(32, 1).astype("float32")
def build():
    inputs = layers.Input((4,))
    model = keras.Model(inputs, layers.Dense(1)(layers.BatchNormalization()(layers.Dense(8, "relu")(inputs))))
    model.compile("adam", "mse")
    return model
model = build()
model.fit(x, y, epochs=2, verbose=0, callbacks=[keras.callbacks.ModelCheckpoint({str(tmp_path / "best.keras")!r})])
wanted = model.predict(x, verbose=0)
def check(other):
    np.testing.assert_allclose(other.predict(x, verbose=0), wanted, rtol=1e-6)
model.save({str(tmp_path / "m.keras")!r})
loaded = keras.models.load_model({str(tmp_path / "m.keras")!r})
check(loaded)
assert loaded.optimizer.iterations.numpy() == 2
loaded.fit(x, y, verbose=0)
model.save_weights({str(tmp_path / "m.weights.h5")!r})
other = build()
other.load_weights({str(tmp_path / "m.weights.h5")!r})
check(other)
path = tf.train.Checkpoint(model=model).save({str(tmp_path / "ckpt")!r})
other = build()
tf.train.Checkpoint(model=other).restore(path)
check(other)
model.export({str(tmp_path / "exported")!r}, verbose=False)
np.testing.assert_allclose(tf.saved_model.load({str(tmp_path / "exported")!r}).serve(x), wanted, rtol=1e-5)
""")


@needs_keras
def test_other_ways_to_train():
    program("""
import keras, numpy as np
from keras import layers
x, y = np.random.rand(32, 4).astype("float32"), np.random.randint(0, 3, 32)
def build(**options):
    model = keras.Sequential([layers.Input((4,)), layers.Dense(8), layers.Dense(3, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy", **options)
    return model
build(steps_per_execution=2).fit(x, y, batch_size=8, verbose=0)
build(jit_compile=True).fit(x, y, batch_size=8, verbose=0)
keras.utils.clear_session()
with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
    model = build()
model.fit(x, y, batch_size=8, verbose=0, class_weight={0: 1., 1: 2., 2: 3.})
keras.mixed_precision.set_global_policy("mixed_float16")
model = build()
model.fit(x, y, batch_size=8, verbose=0)
assert type(model.optimizer).__name__ == "LossScaleOptimizer"
""")


@needs_keras
def test_words_become_numbers():
    out = program("""
import keras, numpy as np
words = keras.layers.TextVectorization(output_sequence_length=4)
words.adapt(["a b c", "b c d"])
print(words(["b z"]).numpy().tolist(), next(iter(tf.data.Dataset.from_tensors(["a d"]).map(words))).numpy().tolist())
""")
    assert out == "[[3, 1, 0, 0]] [[5, 4, 0, 0]]\n"


@needs_keras
def test_tf_keras_is_keras_and_comes_late():
    program("""
import sys
assert "keras" not in sys.modules
from tensorflow.keras import layers
from tensorflow.keras.layers import Dense
import tensorflow.keras.backend as K
import keras
assert layers.Dense is Dense is keras.layers.Dense is tf.keras.layers.Dense and K.floatx() == "float32"
assert tf.keras.__version__ == keras.__version__ and "layers" in dir(tf.keras)
assert tf.losses.MeanSquaredError is keras.losses.MeanSquaredError and tf.optimizers.Adam is keras.optimizers.Adam
assert tf.is_tensor(keras.Variable(1.)) and isinstance(keras.Variable(1.), tf.__internal__.types.Tensor)
""")
    run("-c", "import penstock as tf; assert tf.keras.layers.Dense(2)(tf.ones([1, 2])).shape == (1, 2)")


def test_without_keras_it_is_said_what_to_install():
    for name in ("keras.layers", "losses.MeanSquaredError", "optimizers.Adam"):
        done = program(f"""
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "keras" else found(name, *rest)
try:
    tf.{name}
except ImportError as e:
    assert isinstance(e, NotImplementedError)
    print(e)
""")
        assert done == "tf.keras is the package keras, which is not installed: pip install keras\n"


@needs_keras
def test_beside_another_tensorflow_there_is_no_tf_keras(tmp_path):
    (tmp_path / "tensorflow.py").write_text("")
    done = run("-c", f"""
import sys; sys.path.insert(0, {str(tmp_path)!r})
import tensorflow, penstock
try:
    penstock.keras.layers
except ImportError as e:
    assert isinstance(e, NotImplementedError)
    print(e)
""")
    assert "needs `import tensorflow` to be Penstock" in done and "imported already" in done
