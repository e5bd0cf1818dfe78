"""Elements that are no plain tensors: sparse values made in functions, TensorArrays."""
import gc

import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.graph import context

Dataset = tf.data.Dataset


def sparse(i):
    return tf.SparseTensorValue(indices=[[0, 0], [1, 1]], values=i * [1, -1], dense_shape=[2, 2])


def test_a_function_returns_a_sparse_value_of_symbolic_parts():
    with context.eager_mode():
        dense = Dataset.range(3).map(sparse).map(lambda x: tf.sparse.to_dense(x))
        assert [x.numpy().tolist() for x in dense] == [[[i, 0], [0, -i]] for i in range(3)]


def test_the_shape_of_a_sparse_value_is_known_in_functions():
    with context.eager_mode():
        dataset = Dataset.from_tensors(tf.sparse.from_dense([[0, 2], [3, 0]])).map(lambda x: x).flat_map(
            lambda x: Dataset.from_tensors(x))
        assert dataset.element_spec == tf.SparseTensorSpec([2, 2], tf.int32)
        assert [x.tolist() for x in dataset.as_numpy_iterator()] == [[[0, 2], [3, 0]]]


def array(n):
    return tf.TensorArray(tf.int64, element_shape=(), size=tf.cast(n, tf.int32)).unstack(tf.range(n))


def test_tensor_arrays_are_elements():
    with context.eager_mode():
        dataset = Dataset.range(4).map(array)
        assert dataset.element_spec == tf.TensorArraySpec([], tf.int64)
        assert [x.stack().numpy().tolist() for x in dataset] == [[], [0], [0, 1], [0, 1, 2]]
        flat = dataset.flat_map(lambda x: Dataset.from_tensor_slices(x.stack()))
        assert [int(x) for x in flat] == [0, 0, 1, 0, 1, 2]
        single = Dataset.from_tensors(tf.TensorArray(tf.float32, size=2, element_shape=()).unstack([1.0, 2.0]))
        assert [x.stack().numpy().tolist() for x in single] == [[1.0, 2.0]]


def test_tensor_arrays_in_a_graph():
    with tf.Graph().as_default(), tf.Session() as session:
        iterator = tf.data.make_initializable_iterator(Dataset.range(2, 4).map(array))
        stacked = iterator.get_next().stack()
        session.run(iterator.initializer)
        assert [session.run(stacked).tolist() for _ in range(2)] == [[0, 1], [0, 1, 2]]


def test_a_variant_keeps_the_functions_of_its_dataset():
    with context.eager_mode():
        dataset = Dataset.range(5).map(lambda x: x * x)
        variant, spec = tf.data.experimental.to_variant(dataset), tf.data.experimental.get_structure(dataset)
        del dataset
        gc.collect()
        assert [int(x) for x in tf.data.experimental.from_variant(variant, spec)] == [0, 1, 4, 9, 16]


def test_samples_that_are_drawn_anew():
    """TensorFlow 2.21's: another choice in each iteration, and in each round of a repeated dataset."""
    with context.eager_mode():
        sources = [Dataset.range(5).repeat(), Dataset.range(10, 15).repeat()]
        drawn = tf.compat.v2.data.Dataset.sample_from_datasets(sources, [0.5, 0.5], seed=3,
                                                               rerandomize_each_iteration=True).take(8)
        assert [[int(x) for x in drawn] for _ in range(4)] == [
            [0, 1, 2, 3, 10, 4, 11, 0], [10, 11, 0, 1, 12, 13, 14, 10], [0, 10, 11, 1, 12, 2, 3, 13],
            [0, 1, 10, 11, 2, 12, 13, 14]]
        assert [int(x) for x in drawn.repeat(3)] == [10, 11, 12, 13, 0, 14, 10, 1, 0, 10, 1, 2, 11, 3, 4, 12, 10, 0, 11,
                                                     1, 2, 12, 3, 4]


def test_reduce_takes_a_sparse_value_of_symbolic_parts():
    with tf.Graph().as_default(), tf.Session() as sess:
        def element(i):
            i = tf.cast(i, tf.int64)
            return {"total": i, "last": tf.SparseTensorValue(np.array([[0, 0]]), i * np.array([1]), np.array([1, 1]))}

        def step(state, value):
            return {"total": state["total"] + value["total"], "last": value["last"]}

        found = sess.run(Dataset.range(1, 4).map(element).reduce(element(0), step))
        assert found["total"] == 6 and found["last"].values.tolist() == [3]


def test_a_state_of_another_number_of_parts_is_refused_when_it_is_computed():
    with tf.Graph().as_default(), tf.Session() as sess:
        for state, step in ((0, lambda *_: ()), ((np.int64(0), np.int64(0)), lambda state, _: state[0])):
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(Dataset.range(5).reduce(state, step))


@pytest.mark.parametrize("name, result", [("map", None), ("map", (1, None)), ("flat_map", None), ("filter", None)])
def test_version_one_has_no_element_none(name, result):
    with pytest.raises(TypeError, match=rf"Unsupported return value .* passed to Dataset.{name}\(\): .*None"):
        getattr(Dataset.range(5), name)(lambda x: result)


def test_version_one_merges_no_two_values_of_an_option():
    def options(**values):
        made = tf.data.Options()
        for name, value in values.items():
            owner = made.experimental_threading if name.startswith("private") else made.experimental_optimization
            setattr(owner, name, value)
        return made

    dataset = Dataset.range(1).with_options(options(autotune=True))
    merged = dataset.with_options(options(private_threadpool_size=2)).options()
    assert merged.experimental_optimization.autotune and merged.experimental_threading.private_threadpool_size == 2
    with pytest.raises(ValueError, match=r"Cannot merge incompatible values \(True and False\) of option: autotune"):
        dataset.with_options(options(autotune=False))


def test_options_of_what_a_loop_has_joined_a_thousand_times():
    options = tf.data.Options()
    options.experimental_deterministic = False
    with context.eager_mode():
        dataset = Dataset.range(1).with_options(options)
        for _ in range(1100):
            dataset = dataset.concatenate(Dataset.range(1))
        assert dataset.options().experimental_deterministic is False
        assert next(iter(dataset)).numpy() == 0
