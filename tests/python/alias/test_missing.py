"""A name that is missing says why: it is of the other version, was renamed, is not here yet, or is mistyped."""
import os
import subprocess
import sys

import numpy as np
import pytest

import penstock.v1 as tf
from penstock.alias import missing


@pytest.mark.parametrize("name, version, words", [
    ("placeholder", "2", ["tf.placeholder is TensorFlow 1", "tf.compat.v1.placeholder in both", "penstock run --v1"]),
    ("log", "2", ["tf.math.log in TensorFlow 2"]),
    ("train.AdamOptimizer", "2", ["tf.keras.optimizers.Adam in TensorFlow 2"]),
    ("random_normal", "2", ["tf.random.normal in TensorFlow 2"]),
    ("contrib", "2", ["tf.contrib is TensorFlow 1", "PENSTOCK_TENSORFLOW=1"]),
    ("summary.create_file_writer", "1", ["is TensorFlow 2", "penstock run --v2"]),
    ("mul", "1", ["before TensorFlow 1.0: it is tf.multiply now"]),
    ("train.SummaryWriter", "1", ["tf.summary.FileWriter now"]),
    ("train.SummaryWriter", "2", ["tf.summary.create_file_writer now"]),
    ("contrib.grid_rnn", "1", ["TensorFlow 1.15 has tf.contrib.grid_rnn, Penstock does not yet"]),
    ("data.Datset", "2", ["did you mean tf.data.Dataset?"]),
    ("relu", "2", ["did you mean tf.nn.relu?"]),
])
def test_reasons(name, version, words):
    reason = missing.reason(name, version)
    assert all(word in reason for word in words), reason


@pytest.mark.parametrize("name", ["zzzzzz", "_private", "nn._private"])
def test_nothing_is_said_of_unknown_names(name):
    assert missing.reason(name, "1") == missing.reason(name, "2") == ""


def test_all_old_names_are_answered():
    """60 names of TensorFlow 0.x, and their present names exist."""
    assert len(missing.RENAMED) >= 45
    for old, new in missing.RENAMED.items():
        value = tf
        for part in new.split("."):
            value = getattr(value, part)
        assert missing.reason(old, "1") or hasattr(tf, old)


def test_a_module_tells():
    with pytest.raises(AttributeError, match=r"module 'penstock.v1' has no attribute 'mul': .* it is tf.multiply now"):
        tf.mul
    assert not hasattr(tf, "mul") and getattr(tf.nn, "rel", 3) == 3
    with pytest.raises(ImportError, match="cannot import name 'unpack' from 'penstock.v1': .* tf.unstack now"):
        from penstock.v1 import unpack  # noqa: F401


def test_modules_of_the_other_version():
    source = "import penstock.as_tensorflow\nimport tensorflow.contrib.slim"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True,
                          env=dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p),
                                   PENSTOCK_TENSORFLOW="2"))
    assert "No module named 'tensorflow.contrib' (tf.contrib is TensorFlow 1" in done.stderr


def test_orders_of_arguments_before_version_one():
    x = tf.ones([2, 3])
    with pytest.raises(ValueError, match=r"must have rank 0 \(before .* tf.concat\(values, axis\) now"):
        tf.concat(1, [x, x])
    with pytest.raises(TypeError, match=r"tf.split\(value, num_or_size_splits, axis\) now"):
        tf.split(1, 3, x)


def test_keys_of_a_checkpoint(tmp_path):
    path = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.Variable(np.zeros([2, 3], np.float32), name="layer/kernel")
        tf.Variable(1.0, name="step")
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, path)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.Variable(np.zeros([2, 3], np.float32), name="layers/kernel")
        with pytest.raises(tf.errors.NotFoundError) as caught:
            tf.train.Saver().restore(session, path)
    assert "The checkpoint has 2 keys, the nearest are: layer/kernel [2, 3]" in str(caught.value)
