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


# Files: each pipeline writes what it reads.


def _directory():
    import tempfile
    return tempfile.mkdtemp()


def _written(texts):
    import os
    directory = _directory()
    for name, text in texts.items():
        with open(os.path.join(directory, name), "wb") as f:
            f.write(text)
    return [os.path.join(directory, name) for name in sorted(texts)]


def text_lines(tf):
    names = _written({"a": b"one\ntwo\r\n\nlast", "b": b"", "c": b"end\n"})
    return tf.data.TextLineDataset(names)


def fixed_length_records(tf):
    names = _written({"a": b"Hxxyyzz__", "b": b"H11__"})
    return tf.data.FixedLengthRecordDataset(names, 2, header_bytes=1, footer_bytes=2)


def records_of_shards(tf):
    names = _written({"a": b"", "b": b"", "c": b""})
    for i, name in enumerate(names):
        with tf.python_io.TFRecordWriter(name) as writer:
            for j in range(i + 2):
                writer.write(b"%d-%d" % (i, j))
    return tf.data.TFRecordDataset(names).concatenate(tf.data.TFRecordDataset(names, num_parallel_reads=2))


def files_in_order(tf):
    import os
    names = _written({"b": b"", "a": b"", "c.txt": b""})
    pattern = os.path.join(os.path.dirname(names[0]), "?")
    dataset = tf.data.Dataset.list_files(pattern, shuffle=False)
    return dataset.map(lambda name: tf.strings.regex_replace(name, ".*/", ""))


def files_shuffled(tf):
    import os
    names = _written({"f%d" % i: b"" for i in range(8)})
    dataset = tf.data.Dataset.list_files(os.path.join(os.path.dirname(names[0]), "f*"), seed=5)
    return dataset.repeat(2).map(lambda name: tf.strings.regex_replace(name, ".*/", ""))


def no_files(tf):
    return tf.data.Dataset.list_files("/nowhere/there/are/files*")


def vanished_file(tf):
    return tf.data.TextLineDataset(_written({"a": b"here\n"}) + ["/nowhere/gone"])


def damaged_records(tf):
    names = _written({"a": b""})
    with tf.python_io.TFRecordWriter(names[0]) as writer:
        for i in range(3):
            writer.write(b"record %d" % i)
    with open(names[0], "r+b") as f:
        f.seek(30)
        f.write(b"?")
    return tf.data.TFRecordDataset(names)


def csv_columns(tf):
    names = _written({"a": b"x,y,z\n1,2.5,a\n,3,\"b,c\"\n4,,d\n"})
    return tf.data.experimental.CsvDataset(names, [tf.constant([7]), tf.float32, tf.string], header=True)


def csv_selected(tf):
    names = _written({"a": b"1,2.5,a\n3,4.5,b\n"})
    return tf.data.experimental.CsvDataset(names, [tf.int32, tf.string], select_cols=[0, 2])


def csv_batches(tf):
    names = _written({"a": b"n,word\n1,a\n2,b\n3,c\n", "b": b"n,word\n4,d\n5,e\n"})
    return tf.data.experimental.make_csv_dataset(names, 2, num_epochs=1, shuffle=False, label_name="n")


def _examples(tf, n):
    def feature(**kind):
        return tf.train.Feature(**kind)
    return [tf.train.Example(features=tf.train.Features(feature={
        "fixed": feature(int64_list=tf.train.Int64List(value=[i, -i])),
        "words": feature(bytes_list=tf.train.BytesList(value=[b"w%d" % j for j in range(i)])),
        "floats": feature(float_list=tf.train.FloatList(value=[0.5] * (3 - i)))})).SerializeToString()
        for i in range(n)]


def examples_in_batches(tf):
    dataset = tf.data.Dataset.from_tensor_slices(_examples(tf, 4)).batch(3)
    return dataset.apply(tf.data.experimental.parse_example_dataset({
        "fixed": tf.FixedLenFeature([2], tf.int64), "words": tf.VarLenFeature(tf.string),
        "absent": tf.FixedLenFeature([], tf.float32, 2.5)}, num_parallel_calls=2))


def examples_with_a_feature_that_is_absent(tf):
    dataset = tf.data.Dataset.from_tensor_slices(_examples(tf, 2)).batch(2)
    return dataset.apply(tf.data.experimental.parse_example_dataset({"gone": tf.FixedLenFeature([], tf.int64)}))


def batched_features(tf):
    names = _written({"a": b"", "b": b""})
    for name, part in zip(names, (_examples(tf, 4)[:2], _examples(tf, 4)[2:])):
        with tf.python_io.TFRecordWriter(name) as writer:
            for example in part:
                writer.write(example)
    return tf.data.experimental.make_batched_features_dataset(
        names, 3, {"fixed": tf.FixedLenFeature([2], tf.int64)}, num_epochs=2, shuffle=False, reader_num_threads=1)


def saved_and_loaded(tf):
    import os
    path = os.path.join(_directory(), "snapshot")
    dataset = _range(tf, 7).map(lambda x: {"x": x, "s": tf.as_string(x)})
    return dataset.snapshot(path).concatenate(dataset.snapshot(path, compression="GZIP").take(2))


# The rest.


def rebatched(tf):
    return _range(tf, 11).batch(4).rebatch(3).concatenate(_range(tf, 11).batch(4).rebatch([1, 2], drop_remainder=True))


def ragged_batched(tf):
    dataset = _range(tf, 5).map(lambda x: tf.fill([x], x)).ragged_batch(2)
    return dataset.map(lambda ragged: (ragged.values, ragged.row_splits))


def sparse_batched(tf):
    return _range(tf, 5).map(lambda x: tf.fill([x], x)).sparse_batch(3, [6])


def random_method(tf):
    return tf.data.Dataset.random(seed=4).take(3).repeat(2)


def random_anew_each_time(tf):
    return tf.data.Dataset.random(seed=4, rerandomize_each_iteration=True).take(3).repeat(2)


def counter_method(tf):
    return tf.data.Dataset.counter(4, -2).take(3)


def sampled_without_end(tf):
    return tf.data.Dataset.sample_from_datasets(
        [_range(tf, 3).repeat(), _range(tf, 10, 12)], [0.6, 0.4], seed=5, stop_on_empty_dataset=True)


def chosen_until_one_is_empty(tf):
    return tf.data.Dataset.choose_from_datasets(
        [_range(tf, 2), _range(tf, 10, 20)], _range(tf, 9).map(lambda x: x % 2), stop_on_empty_dataset=False)


def cardinality_asserted(tf):
    return _range(tf, 4).filter(lambda x: x > 1).apply(tf.data.experimental.assert_cardinality(3))


def scan_method(tf):
    return _range(tf, 6).scan(np.int64(1), lambda state, x: (state + x, (state, x)))


def methods_of_grouping(tf):
    dataset = _range(tf, 12).group_by_window(lambda x: x % 2, lambda key, group: group.batch(3), window_size=3)
    return dataset.concatenate(_range(tf, 1, 7).map(lambda x: tf.fill([x], x)).bucket_by_sequence_length(
        lambda x: tf.shape(x)[0], [4], [2, 2]).map(lambda x: tf.reshape(x, [-1])))


def taken_while_and_unique(tf):
    return _range(tf, 10).map(lambda x: x % 4).take_while(lambda x: x < 3).concatenate(
        _range(tf, 10).map(lambda x: x % 4).unique())


def errors_ignored(tf):
    return _range(tf, 6).map(lambda x: 12 // (x - 3)).ignore_errors()


def resample_method(tf):
    dataset = _range(tf, 60).map(lambda x: tf.cast(x % 3, tf.int32))
    return dataset.rejection_resample(lambda x: x, [0.2, 0.3, 0.5], [0.4, 0.3, 0.3], seed=3).take(10)


def prefetched(tf):
    return _range(tf, 5).prefetch(0).prefetch(2).prefetch(tf.data.experimental.AUTOTUNE)


def reduced(tf):
    total = _range(tf, 6).reduce(np.int64(10), lambda state, x: state + x)
    return tf.data.Dataset.from_tensors(total)


def single_element(tf):
    return tf.data.Dataset.from_tensors(tf.data.experimental.get_single_element(_range(tf, 5).batch(10)))


def interleaved_as_it_comes(tf):
    return _range(tf, 4).interleave(lambda x: _range(tf, x * 10, x * 10 + 3), cycle_length=2, deterministic=True,
                                    num_parallel_calls=tf.data.experimental.AUTOTUNE)


def shards_of_shuffles(tf):
    return _range(tf, 20).shuffle(20, seed=8, reshuffle_each_iteration=True).shard(3, 1).repeat(2).batch(4)


def shuffled_by_many_seeds(tf):
    first = _range(tf, 6).shuffle(3, seed=2**40 + 1)
    return tf.data.Dataset.zip((first, _range(tf, 6).shuffle(100, seed=-5), _range(tf, 6).shuffle(2, seed=0)))


def copied_with_options(tf):
    options = tf.data.Options()
    options.deterministic = True
    options.experimental_optimization.map_and_batch_fusion = True
    return _range(tf, 9).map(lambda x: x + 1).batch(4).with_options(options)


def rows_that_fail_in_a_batch(tf):
    return _range(tf, 7).map(lambda x: 12 // (x - 4)).batch(2).apply(tf.data.experimental.ignore_errors())
