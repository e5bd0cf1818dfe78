"""Input pipelines, for the comparison of graphs."""
import numpy as np


def sources(tf):
    Dataset = tf.data.Dataset
    Dataset.from_tensors((1, {"a": [1.0, 2.0], "b": "text"}))
    Dataset.from_tensor_slices((np.arange(6), np.ones([6, 2], np.float32)))
    Dataset.range(3)
    Dataset.range(1, 7, 2)
    Dataset.from_tensors(tf.SparseTensor([[0, 0], [1, 2]], [1, 2], [2, 3])).batch(2)
    Dataset.from_tensor_slices(tf.SparseTensor([[0, 0], [1, 2]], [1, 2], [2, 3]))
    Dataset.from_sparse_tensor_slices(tf.SparseTensor([[0, 0], [1, 2]], [1, 2], [2, 3]))
    Dataset.from_generator(lambda: [1], tf.int32).padded_batch(2, [])
    Dataset.from_generator(lambda x: [(1, x)], (tf.int32, tf.string), ([], [None]), args=(["a"],))
    tf.data.experimental.RandomDataset(3)
    tf.data.experimental.Counter(5, 2)


def files(tf):
    tf.data.TextLineDataset("a")
    tf.data.TextLineDataset(["a", "b"], compression_type="GZIP", buffer_size=10, num_parallel_reads=2)
    tf.data.TFRecordDataset(tf.data.Dataset.list_files("a*"))
    tf.data.TFRecordDataset(["a"], num_parallel_reads=tf.data.experimental.AUTOTUNE)
    tf.data.FixedLengthRecordDataset(["a"], 4, header_bytes=2)
    tf.data.experimental.CsvDataset("a", [tf.int32, tf.constant([1.0])], header=True, select_cols=[0, 1])
    tf.data.experimental.SqlDataset("sqlite", "file", "SELECT a FROM b", (tf.int32,))
    tf.data.experimental.TFRecordWriter("a").write(tf.data.Dataset.from_tensors("x"))


def iterators(tf):
    Dataset = tf.data.Dataset
    first = Dataset.range(3).make_one_shot_iterator()
    first.get_next()
    first.get_next(name="again")
    first.string_handle("handle")
    second = Dataset.range(3).make_initializable_iterator(shared_name="s")
    second.get_next()
    fed = tf.data.Iterator.from_string_handle(tf.placeholder(tf.string), tf.int64, [])
    fed.get_next()
    structured = tf.data.Iterator.from_structure((tf.int64, tf.float32), ([], [2]))
    structured.make_initializer(Dataset.zip((Dataset.range(3), Dataset.from_tensors(np.float32([1, 2])).repeat())))
    structured.get_next()
    with tf.device("/cpu:1"):
        tf.data.Iterator.from_structure(tf.int32)
    optional = tf.data.experimental.get_next_as_optional(second)
    optional.has_value()
    optional.get_value()
    tf.data.experimental.Optional.from_value((1, 2.0))
    tf.data.experimental.make_saveable_from_iterator(first)


def transformations(tf):
    numbers = tf.data.Dataset.range(10)
    dataset = numbers.map(lambda x: x + 1).map(lambda x: (x, x), num_parallel_calls=2).filter(lambda a, b: a > 1)
    dataset = dataset.take(5).skip(1).shard(2, 0).repeat(2).repeat().shuffle(3, seed=4).prefetch(2).cache().cache("f")
    dataset.batch(2).batch(3, drop_remainder=True).unbatch()
    numbers.window(3, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(3))
    numbers.interleave(lambda x: tf.data.Dataset.range(x), 2, 3)
    numbers.interleave(lambda x: tf.data.Dataset.range(x), 2, 3, num_parallel_calls=2)
    numbers.concatenate(tf.data.Dataset.range(3)).enumerate(5)
    numbers.map(lambda x: tf.fill([x], x)).padded_batch(3, [None], padding_values=np.int64(-1), drop_remainder=True)
    numbers.reduce(np.int64(0), lambda a, b: a + b)
    numbers.map_with_legacy_function(lambda x: x).filter_with_legacy_function(lambda x: True)


def shuffled_with_the_graphs_seed(tf):
    tf.set_random_seed(7)
    dataset = tf.data.Dataset.range(10).shuffle(5).shuffle(5, seed=3, reshuffle_each_iteration=False)
    dataset.make_one_shot_iterator().get_next()
    tf.data.Dataset.list_files("a*", seed=2).make_initializable_iterator()


def experimental(tf):
    experimental = tf.data.experimental
    numbers = tf.data.Dataset.range(10)
    numbers.apply(experimental.shuffle_and_repeat(5)).apply(experimental.map_and_batch(lambda x: x, 3))
    numbers.apply(experimental.parallel_interleave(lambda x: tf.data.Dataset.range(x), 2, sloppy=True))
    numbers.apply(experimental.scan(np.int64(0), lambda s, x: (s + 1, x))).apply(experimental.unique())
    numbers.apply(experimental.take_while(lambda x: x < 3)).apply(experimental.ignore_errors())
    numbers.apply(experimental.group_by_window(lambda x: x % 2, lambda k, d: d.batch(2), window_size=2))
    numbers.apply(experimental.group_by_reducer(
        lambda x: x % 2, experimental.Reducer(lambda k: (0, 0.0), lambda s, x: (s[0] + 1, s[1]), lambda a, b: b)))
    numbers.apply(experimental.bucket_by_sequence_length(lambda x: tf.cast(x, tf.int32), [2, 4], [1, 2, 3],
                                                         no_padding=True))
    numbers.batch(2).apply(experimental.dense_to_sparse_batch(2, [3]))
    experimental.sample_from_datasets([numbers, numbers], [.5, .5], seed=1)
    experimental.choose_from_datasets([numbers, numbers], numbers)
    numbers.apply(experimental.bytes_produced_stats("a")).apply(experimental.latency_stats("b"))
    experimental.cardinality(numbers)
    experimental.get_single_element(numbers.take(1))
    numbers.apply(experimental.copy_to_device("/cpu:0"))
    tf.contrib.data.batch_and_drop_remainder(2)(numbers)
    tf.data.TextLineDataset("a").batch(2).apply(experimental.parse_example_dataset(
        {"a": tf.FixedLenFeature([2], tf.int64), "b": tf.VarLenFeature(tf.float32)}, num_parallel_calls=2))


def resampling(tf):
    tf.set_random_seed(3)
    classes = tf.data.Dataset.range(100).map(lambda x: tf.cast(x % 3, tf.int32))
    classes.apply(tf.data.experimental.rejection_resample(lambda x: x, [.2, .3, .5], seed=4))
    classes.apply(tf.data.experimental.rejection_resample(lambda x: x, [.2, .3, .5], [.3, .3, .4], seed=4))


def options(tf):
    options = tf.data.Options()
    options.experimental_deterministic = False
    options.experimental_threading.private_threadpool_size = 3
    options.experimental_threading.max_intra_op_parallelism = 1
    options.experimental_optimization.map_fusion = True
    options.experimental_optimization.noop_elimination = False
    options.experimental_stats.aggregator = tf.data.experimental.StatsAggregator()
    dataset = tf.data.Dataset.range(3).with_options(options)
    dataset.make_initializable_iterator().get_next()
    options = tf.data.Options()
    options.experimental_optimization.autotune = False
    options.experimental_optimization.apply_default_optimizations = False
    dataset.with_options(options).make_initializable_iterator()
