"""Input pipelines whose elements, and their order, are compared with TensorFlow's.

Each function takes the module `tf` and gives a dataset. Errors end a pipeline and are recorded by their class.
"""
import numpy as np


def _range(tf, *args):
    return tf.data.Dataset.range(*args)


def range_of_all_signs(tf):
    return _range(tf, 1, 10, 3).concatenate(_range(tf, 5, -4, -2)).concatenate(_range(tf, 5, 1))


def tensors(tf):
    return tf.data.Dataset.from_tensors((1, {"a": [1.0, 2.0], "b": "text"})).repeat(2)


def slices(tf):
    return tf.data.Dataset.from_tensor_slices((np.arange(4), {"x": np.arange(8.0).reshape(4, 2)}, ["a", "b", "c", "d"]))


def sparse_slices(tf):
    return tf.data.Dataset.from_tensor_slices(tf.SparseTensor([[0, 0], [1, 0], [2, 0], [2, 3]], [1, 2, 3, 4], [3, 4]))


def sparse_batches(tf):
    return sparse_slices(tf).repeat(2).batch(4)


def ragged_slices(tf):
    ragged = tf.RaggedTensor.from_row_splits([1, 2, 3, 4, 5], [0, 2, 2, 5])
    return tf.data.Dataset.from_tensor_slices(ragged).map(lambda row: tf.reduce_sum(row))


def ragged_batches(tf):
    dataset = _range(tf, 5).map(lambda x: tf.fill([x], x)).apply(tf.data.experimental.dense_to_ragged_batch(3))
    return dataset.map(lambda ragged: (ragged.values, ragged.row_splits))


def generator(tf):
    def generate(n):
        for i in range(n):
            yield i, [b"%d" % j for j in range(i)]
    return tf.data.Dataset.from_generator(generate, (tf.int64, tf.string), ([], [None]), args=(4,)).repeat(2)


def generator_that_raises(tf):
    def generate():
        yield 1
        yield 2
        raise ValueError("no more")
    return tf.data.Dataset.from_generator(generate, tf.int32)


def generator_of_another_type(tf):
    return tf.data.Dataset.from_generator(lambda: [1, "a"], tf.int32)


def generator_of_another_shape(tf):
    return tf.data.Dataset.from_generator(lambda: [[1, 2], [1, 2, 3]], tf.int32, [2])


def map_of_structures(tf):
    return slices(tf).map(lambda i, d, s: {"sum": tf.cast(i, tf.float64) + d["x"], "s": tf.string_join([s, s])})


def map_parallel(tf):
    return _range(tf, 20).map(lambda x: x * x, num_parallel_calls=3)


def map_that_fails(tf):
    return _range(tf, 5).map(lambda x: 12 // (x - 3))


def map_then_ignore_errors(tf):
    dataset = _range(tf, 6).map(lambda x: tf.check_numerics(1.0 / tf.cast(x % 3, tf.float32), "infinite"))
    return dataset.apply(tf.data.experimental.ignore_errors())


def map_with_conditions(tf):
    def step(x):
        if x % 2 > 0:
            return x * 10
        return x
    return _range(tf, 6).map(step)


def filters(tf):
    return _range(tf, 20).filter(lambda x: tf.equal(x % 3, 1)).map(lambda x: (x, x + 1)).filter(lambda a, b: b > 5)


def take_skip_shard_repeat(tf):
    dataset = _range(tf, 20).skip(3).take(11).shard(3, 1).repeat(2)
    return dataset.concatenate(_range(tf, 3).take(-1)).concatenate(_range(tf, 3).skip(-1))


def batches(tf):
    return _range(tf, 7).map(lambda x: (x, tf.fill([2], x))).batch(3).concatenate(
        _range(tf, 7).map(lambda x: (x, tf.fill([2], x))).batch(3, drop_remainder=True))


def batch_of_different_shapes(tf):
    return _range(tf, 1, 4).map(lambda x: tf.fill([x], x)).batch(2)


def unbatched(tf):
    return slices(tf).batch(3).unbatch().batch(2)


def padded_batches(tf):
    dataset = _range(tf, 5).map(lambda x: (tf.fill([x], x), tf.fill([2, x], tf.as_string(x))))
    return dataset.padded_batch(2, ([None], [None, 5]), (np.int64(-1), "pad"))


def padded_batch_too_small(tf):
    return _range(tf, 5).map(lambda x: tf.fill([x], x)).padded_batch(2, [2])


def windows(tf):
    dataset = _range(tf, 10).window(4, shift=3, stride=2)
    return dataset.flat_map(lambda window: window.batch(4)).concatenate(
        _range(tf, 10).window(4, 2, 1, True).flat_map(lambda window: window.batch(4)))


def windows_of_structures(tf):
    dataset = tf.data.Dataset.zip({"a": _range(tf, 5), "b": (_range(tf, 5), _range(tf, 5, 10))}).window(2)
    return dataset.flat_map(lambda w: tf.data.Dataset.zip((w["a"], w["b"][1])).batch(2))


def zipped(tf):
    words = tf.data.Dataset.from_tensors("x").repeat()
    return tf.data.Dataset.zip((_range(tf, 5), {"a": _range(tf, 3, 10), "b": words}))


def enumerated(tf):
    return _range(tf, 5, 8).enumerate(start=3)


def flat_maps(tf):
    return _range(tf, 5).flat_map(lambda x: tf.data.Dataset.from_tensors(x).repeat(x))


def nested_flat_maps(tf):
    return _range(tf, 4).flat_map(lambda x: _range(tf, x).flat_map(lambda y: _range(tf, y + x, y + x + 2)))


def interleaved(tf):
    return _range(tf, 1, 6).interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(x), 3, 2)


def interleaved_in_parallel(tf):
    return _range(tf, 1, 6).interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(x), 3, 2, num_parallel_calls=2)


def parallel_interleave(tf):
    return _range(tf, 1, 6).apply(tf.data.experimental.parallel_interleave(
        lambda x: tf.data.Dataset.from_tensors(x).repeat(x), cycle_length=3, block_length=2))


def shuffled(tf):
    return _range(tf, 12).shuffle(5, seed=3)


def shuffled_by_both_seeds(tf):
    tf.set_random_seed(7)
    return _range(tf, 12).shuffle(5, seed=3)


def shuffled_anew_each_time(tf):
    return _range(tf, 8).shuffle(8, seed=1).repeat(3)


def shuffled_the_same_each_time(tf):
    return _range(tf, 8).shuffle(8, seed=1, reshuffle_each_iteration=False).repeat(3)


def shuffled_then_repeated_in_one(tf):
    return _range(tf, 8).apply(tf.data.experimental.shuffle_and_repeat(5, 3, seed=4))


def repeated_then_shuffled(tf):
    return _range(tf, 5).repeat(3).shuffle(4, seed=9)


def cached(tf):
    return _range(tf, 5).map(lambda x: x * 2).cache().repeat(3).prefetch(2)


def scanned(tf):
    return _range(tf, 6).apply(tf.data.experimental.scan(
        (np.int64(0), np.int64(1)), lambda state, x: ((state[1], state[0] + state[1]), state[0] + x)))


def taken_while(tf):
    return _range(tf, 10).map(lambda x: (x * 7) % 5).apply(tf.data.experimental.take_while(lambda x: x < 4))


def unique(tf):
    return _range(tf, 20).map(lambda x: (x * x) % 7).apply(tf.data.experimental.unique())


def grouped_by_window(tf):
    return _range(tf, 20).apply(tf.data.experimental.group_by_window(
        lambda x: x % 3, lambda key, group: group.map(lambda x: x * 10 + key).batch(4), window_size=4))


def grouped_by_window_of_many_sizes(tf):
    return _range(tf, 12).apply(tf.data.experimental.group_by_window(
        lambda x: x % 3, lambda key, group: group.batch(10), window_size_func=lambda key: key + 1))


def grouped_by_reducer(tf):
    reducer = tf.data.experimental.Reducer(lambda key: (key, np.int64(0)), lambda s, x: (s[0], s[1] + x),
                                           lambda key, total: (key, total))
    return _range(tf, 20).apply(tf.data.experimental.group_by_reducer(lambda x: x % 4, reducer))


def buckets(tf):
    dataset = _range(tf, 1, 13).map(lambda x: tf.fill([(x * 5) % 9 + 1], x))
    return dataset.apply(tf.data.experimental.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3, 6], [2, 2, 3]))


def buckets_padded_to_their_boundary(tf):
    dataset = _range(tf, 1, 9).map(lambda x: tf.fill([(x * 5) % 4 + 1], x))
    return dataset.apply(tf.data.experimental.bucket_by_sequence_length(
        lambda x: tf.shape(x)[0], [3, 6], [2, 2, 2], pad_to_bucket_boundary=True, drop_remainder=True))


def maps_and_batches(tf):
    return _range(tf, 10).apply(tf.data.experimental.map_and_batch(lambda x: (x, x * x), 4, num_parallel_batches=2))


def sampled(tf):
    return tf.data.experimental.sample_from_datasets(
        [_range(tf, 10), _range(tf, 10, 20), _range(tf, 20, 30)], [0.5, 0.3, 0.2], seed=5)


def chosen(tf):
    return tf.data.experimental.choose_from_datasets(
        [_range(tf, 10), _range(tf, 10, 20)], _range(tf, 7).map(lambda x: x % 2))


def resampled(tf):
    dataset = _range(tf, 60).map(lambda x: tf.cast(x % 3, tf.int32))
    return dataset.apply(tf.data.experimental.rejection_resample(
        lambda x: x, [0.2, 0.3, 0.5], [0.4, 0.3, 0.3], seed=3)).take(20)


def sparse_from_dense(tf):
    return _range(tf, 5).map(lambda x: tf.fill([x], x)).apply(tf.data.experimental.dense_to_sparse_batch(3, [6]))


def random_numbers(tf):
    return tf.data.experimental.RandomDataset(seed=4).take(6)


def counted(tf):
    return tf.data.experimental.Counter(5, 3).take(4)


def optionals(tf):
    optional = tf.data.experimental.Optional
    return _range(tf, 3).map(lambda x: optional.from_value((x, x + 1))).map(lambda o: (o.has_value(), o.get_value()))


def nested_datasets(tf):
    dataset = tf.data.Dataset.from_tensors((_range(tf, 3), 5))
    return dataset.flat_map(lambda inner, n: inner.map(lambda x: x + tf.cast(n, tf.int64)))


def empty_batches(tf):
    return _range(tf, 0).batch(3).concatenate(_range(tf, 2).filter(lambda x: x > 5).batch(2))


def batch_of_zero(tf):
    return _range(tf, 5).batch(0)


def shard_out_of_range(tf):
    return _range(tf, 5).shard(2, 3)


def shuffle_of_nothing(tf):
    return _range(tf, 5).shuffle(0)


def step_of_zero(tf):
    return _range(tf, 0, 5, 0)
