"""tf.contrib.slim from files of examples to tensors, and its queues and summaries."""
import numpy as np
import pytest

import penstock.v1 as tf

slim = tf.contrib.slim
decoders = slim.tfexample_decoder
SIDES = ("ymin", "xmin", "ymax", "xmax")
FEATURES = {"image/encoded": tf.FixedLenFeature((), tf.string, ""),
            "image/format": tf.FixedLenFeature((), tf.string, "png"), "label": tf.FixedLenFeature([1], tf.int64),
            **{side: tf.VarLenFeature(tf.float32) for side in SIDES}}


def feature(kind, value):
    return tf.train.Feature(**{kind: getattr(tf.train, {"bytes_list": "BytesList", "int64_list": "Int64List",
                                                        "float_list": "FloatList"}[kind])(value=value)})


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


@pytest.fixture
def records(tmp_path):
    with tf.Session() as session, tf.python_io.TFRecordWriter(str(tmp_path / "part-0")) as writer:
        for i in range(5):
            png = session.run(tf.image.encode_png(np.full((4, 5, 3), 20 * i, np.uint8)))
            writer.write(tf.train.Example(features=tf.train.Features(feature={
                "image/encoded": feature("bytes_list", [png]), "image/format": feature("bytes_list", [b"png"]),
                "label": feature("int64_list", [i]),
                **{side: feature("float_list", [j / 8, j / 4]) for j, side in enumerate(SIDES)}})).SerializeToString())
    return str(tmp_path / "part-*")


def dataset(records):
    handlers = {"image": decoders.Image(), "label": decoders.Tensor("label", shape=[]),
                "box": decoders.BoundingBox()}
    return slim.dataset.Dataset(records, tf.TFRecordReader, decoders.TFExampleDecoder(FEATURES, handlers), 5, {},
                                num_classes=3)


def test_items_of_a_dataset_arrive_in_order(records):
    data = dataset(records)
    assert data.num_classes == 3
    provider = slim.dataset_data_provider.DatasetDataProvider(data, shuffle=False)
    assert set(provider.list_items()) == {"image", "label", "box", "record_key"} and provider.num_samples() == 5
    image, label, box = provider.get(["image", "label", "box"])
    queue = slim.prefetch_queue.prefetch_queue({"image": tf.reshape(image, [4, 5, 3]), "label": label}, capacity=4)
    ahead = queue.dequeue()
    images, labels = tf.train.batch([ahead["image"], ahead["label"]], 3)
    with tf.Session() as session, slim.queues.QueueRunners(session):
        values, numbers = session.run([images, labels])
        np.testing.assert_array_equal(numbers, [0, 1, 2])
        np.testing.assert_array_equal(values[:, 3, 4, 2], [0, 20, 40])
        np.testing.assert_allclose(session.run(box), [[0, 1 / 8, 2 / 8, 3 / 8], [0, 1 / 4, 2 / 4, 3 / 4]])
        with pytest.raises(slim.queues.NestedQueueRunnerError), slim.queues.QueueRunners(session):
            pass
    with pytest.raises(ValueError, match="invalid"):
        provider.get(["nothing"])


def test_records_are_read_by_several_readers(records):
    key, record = slim.parallel_reader.parallel_read(records, tf.TFRecordReader, num_epochs=1, num_readers=2)
    once = slim.parallel_reader.single_pass_read(records, tf.TFRecordReader)[1]
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        with slim.queues.QueueRunners(session):
            keys = {session.run([key, record])[0] for _ in range(5)}
            assert len(keys) == 5
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(key)
            assert session.run(once)
    with pytest.raises(ValueError, match="No data files"):
        slim.parallel_reader.get_data_files([records + "none*"])
    with pytest.raises(TypeError, match="common_queue"):
        slim.parallel_reader.ParallelReader(tf.TFRecordReader, tf.FIFOQueue(3, [tf.int32]))


def decoded(handler, features, example):
    serialized = tf.train.Example(features=tf.train.Features(feature=example)).SerializeToString()
    item, = decoders.TFExampleDecoder(features, {"item": handler}).decode(tf.constant(serialized), ["item"])
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        return session.run(item)


def test_handlers_make_items():
    numbers = {"x": feature("int64_list", [3, 1, 2, 0]), "shape": feature("int64_list", [2, 2])}
    features = {key: tf.VarLenFeature(tf.int64) for key in ("x", "shape", "none")}
    shaped = decoded(decoders.Tensor("x", shape_keys="shape"), features, numbers)
    np.testing.assert_array_equal(shaped, [[3, 1], [2, 0]])
    np.testing.assert_array_equal(decoded(decoders.Tensor("x", shape=[4, 1]), features, numbers), [[3], [1], [2], [0]])
    backup = decoders.BackupHandler(decoders.Tensor("none"), decoders.Tensor("shape"))
    np.testing.assert_array_equal(decoded(backup, features, numbers), [2, 2])
    twice = decoders.ItemHandlerCallback(["x"], lambda found: found["x"].values * 2)
    np.testing.assert_array_equal(decoded(twice, features, numbers), [6, 2, 4, 0])
    sparse = decoders.SparseTensor("shape", "x2", shape=[5], densify=True)
    features["x2"] = tf.VarLenFeature(tf.int64)
    numbers.update(shape=feature("int64_list", [1, 4]), x2=feature("int64_list", [7, 8]))
    np.testing.assert_array_equal(decoded(sparse, features, numbers), [0, 7, 0, 0, 8])
    table = tf.contrib.lookup.index_table_from_tensor(tf.constant([3, 2, 1, 0], tf.int64), dtype=tf.int64)
    np.testing.assert_array_equal(decoded(decoders.LookupTensor("x", table, default_value=0), features, numbers),
                                  [0, 2, 1, 3])
    raw = decoders.Image("img", "form", shape=[2, 1, 3])
    features = {"img": tf.FixedLenFeature((), tf.string), "form": tf.FixedLenFeature((), tf.string)}
    example = {"img": feature("bytes_list", [bytes(range(6))]), "form": feature("bytes_list", [b"raw"])}
    np.testing.assert_array_equal(decoded(raw, features, example).ravel(), range(6))


def test_wrong_handlers_are_refused():
    with pytest.raises(ValueError, match="both"):
        decoders.Tensor("x", shape_keys="s", shape=[1])
    with pytest.raises(ValueError, match="4 keys"):
        decoders.BoundingBox(["a"])
    with pytest.raises(ValueError, match="Backup handler"):
        decoders.BackupHandler(decoders.Tensor("x"), 3)


def test_summaries_bear_the_names_of_their_tensors():
    value = tf.constant(2., name="loss")
    slim.summaries.add_scalar_summary(value, prefix="train", print_summary=True)
    slim.summaries.add_zero_fraction_summary(tf.constant([0., 1.], name="x"))
    slim.summaries.add_histogram_summaries([tf.constant([0., 1.], name="h")], prefix="p")
    slim.summaries.add_image_summaries([tf.zeros([1, 2, 2, 3], name="i")])
    with tf.Session() as session:
        written = tf.Summary.FromString(session.run(tf.summary.merge_all()))
    assert [v.tag for v in written.value] == ["train/loss", "x/Fraction_of_Zero_Values", "p/h", "i_1/image/0"]
    assert [v.simple_value for v in written.value][:2] == [2., .5]
