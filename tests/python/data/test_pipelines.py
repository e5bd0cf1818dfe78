"""Pipelines give the elements that TensorFlow 2.21 gives, in its order: in graphs and eagerly."""
import gzip
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.graph import context
from penstock._src.graph import random_seed

HERE = os.path.join(os.path.dirname(__file__), "..", "..", "oracle", "pipelines")
sys.path.insert(0, HERE)
from record_pipelines import LIMIT, pipelines, plain, run_in_graph  # noqa: E402

with gzip.open(os.path.join(HERE, "elements.json.gz")) as f:
    THEIRS = json.loads(f.read())
PIPELINES = pipelines()


@pytest.mark.parametrize("name", sorted(PIPELINES))
def test_in_a_graph(name):
    assert json.loads(json.dumps(run_in_graph(tf, PIPELINES[name]))) == THEIRS[name]


@pytest.mark.parametrize("name", sorted(PIPELINES))
def test_eagerly(name):
    found = []
    with context.eager_mode():
        random_seed.set_random_seed(None)
        try:
            for element in PIPELINES[name](tf):
                found.append(plain(element))
                if len(found) == LIMIT:
                    break
        except (tf.errors.OpError, TypeError, ValueError) as e:
            found.append("raises " + type(e).__name__)
        finally:
            random_seed.set_random_seed(None)
    assert json.loads(json.dumps(found)) == THEIRS[name]


def test_every_pipeline_was_recorded():
    assert sorted(PIPELINES) == sorted(THEIRS)


def test_random_pipelines():
    """In a process of its own, where version 2's behaviour is on from the beginning."""
    script = os.path.join(HERE, "random_pipelines.py")
    run = subprocess.run([sys.executable, script, "compare"], capture_output=True, text=True, timeout=110)
    assert run.returncode == 0, run.stdout + run.stderr


def test_random_ops_of_functions_have_the_seeds_of_version_one():
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(5)
        dataset = tf.data.Dataset.range(3).map(
            lambda x: (tf.cast(x, tf.float32) + tf.random_uniform([2]), tf.random_normal([1])))
        uniform, normal = sess.run(dataset.make_one_shot_iterator().get_next())
    np.testing.assert_allclose([*uniform, *normal], [0.1547, 0.8565, 1.1854], atol=1e-4)  # TensorFlow 1.15.5's
