"""The seeds of random operations in graphs. Expected values: TensorFlow 2.21's, 1.15.5's where version 1 is named."""
import numpy as np
import pytest

import penstock.v2 as tf
from penstock._src.base.mode import mode


@pytest.fixture
def graph(version_two):
    with tf.Graph().as_default() as g:
        tf.random.set_seed(7)
        yield g


def _seeds(graph):
    return [(op.get_attr("seed"), op.get_attr("seed2")) for op in graph.get_operations() if "seed2" in op.node_def.attr]


def test_a_graph_of_version_two_counts_the_seeds_that_it_gives(graph):
    tf.constant(3)
    x = [tf.random.uniform([2], seed=4), tf.random.uniform([2]), tf.constant(3), tf.random.uniform([2], seed=0),
         tf.random.uniform([2])]
    assert _seeds(graph) == [(7, 4), (7, 0), (7, 0), (7, 1)]
    with tf.compat.v1.Session() as session:
        values = session.run([x[0], x[1], x[3], x[4]])
    np.testing.assert_allclose(values, [[0.1953, 0.5390], [0.7537, 0.0779], [0.7537, 0.0779], [0.4604, 0.9285]],
                               atol=1e-4)


def test_a_function_in_a_graph_counts_for_itself(graph):
    @tf.function
    def draw():
        return tf.random.uniform([2]), tf.random.normal([2])

    x = [*draw(), tf.random.uniform([2])]
    with tf.compat.v1.Session() as session:
        values = session.run(x)
    np.testing.assert_allclose(values, [[0.7537, 0.0779], [-0.5408, 1.1220], [0.7537, 0.0779]], atol=1e-4)


def test_datasets_shuffle_by_these_seeds(graph):
    tf.constant(3)
    dataset = tf.data.Dataset.range(8).shuffle(8)
    element = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
    with tf.compat.v1.Session() as session:
        assert [session.run(element) for _ in range(2)] == [3, 4]


def test_a_graph_of_version_one_counts_its_operations(monkeypatch):
    monkeypatch.setattr(mode, "v2_behavior", False)
    with tf.Graph().as_default() as graph:
        tf.compat.v1.set_random_seed(1)
        tf.constant(3)
        tf.compat.v1.random_uniform([2])
        assert _seeds(graph) == [(1, 4)]
