"""Example messages, CSV, compressed bytes, serialized tensors."""
import gzip
import subprocess
import sys
import zlib

import numpy as np
import pytest

import penstock.v1 as tf


def run(fetches, feed=None):
    with tf.Session() as sess:
        return sess.run(fetches, feed)


def fails(message, make):
    with tf.Graph().as_default(), pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=message):
        run(make())


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def feature(values):
    if isinstance(values, tf.train.Feature):
        return values
    if values and isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if values and isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def features(**named):
    return tf.train.Features(feature={name: feature(values) for name, values in named.items()})


def example(**named):
    return tf.train.Example(features=features(**named)).SerializeToString()


def sequence_example(context=None, **lists):
    return tf.train.SequenceExample(
        context=features(**(context or {})),
        feature_lists=tf.train.FeatureLists(feature_list={
            name: tf.train.FeatureList(feature=[feature(v) for v in values]) for name, values in lists.items()}),
    ).SerializeToString()


def test_fixed_and_variable_features():
    batch = [example(x=[1.0, 2.0], y=[b"a", b"b"], n=[5]), example(x=[3.0, 4.0], n=[6, 7]),
             example(x=[5.0, 6.0], y=[b"c"])]
    parsed = run(tf.parse_example(batch, {
        "x": tf.FixedLenFeature([2], tf.float32), "y": tf.VarLenFeature(tf.string),
        "z": tf.FixedLenFeature([], tf.int64, default_value=-1),
        "n": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=-9)}))
    assert parsed["x"].tolist() == [[1, 2], [3, 4], [5, 6]] and parsed["z"].tolist() == [-1] * 3
    assert parsed["n"].tolist() == [[5, -9], [6, 7], [-9, -9]]
    y = parsed["y"]
    assert y.indices.tolist() == [[0, 0], [0, 1], [2, 0]] and y.values.tolist() == [b"a", b"b", b"c"]
    assert y.dense_shape.tolist() == [3, 2]


def test_unpacked_lists_and_repeated_keys():
    unpacked = b"\x0a\x0d\x0a\x0b\x0a\x01n\x12\x06\x1a\x04\x08\x07\x08\x08"  # two varints of field 1, not packed
    last = example(n=[1]) + example(n=[2, 3])
    wanted = {"n": tf.VarLenFeature(tf.int64)}
    assert run(tf.parse_example([unpacked], wanted))["n"].values.tolist() == [7, 8]
    assert run(tf.parse_example([last], wanted))["n"].values.tolist() == [2, 3]


def test_messages_of_errors():
    def parse(serialized, names=None, **wanted):
        return tf.parse_example(serialized, wanted, example_names=names)

    dense = tf.FixedLenFeature([2], tf.float32)
    fails(r"Name: in2, Feature: c \(data type: float\) is required but could not be found",
          lambda: parse([example(c=[1.0, 2.0]), example()], ["in1", "in2"], c=dense))
    fails("Name: in1, Key: c, Index: 0.  Number of float values != expected.  Values size: 3 but output shape: ",
          lambda: parse([example(c=[1.0, 2.0, 3.0])], ["in1"], c=dense))
    fails("Data types don't match. Data type: int64 but expected type: float",
          lambda: parse([example(c=[1, 2])], c=dense))
    fails("Number of int64 values is not a multiple of stride length. Saw 3 values but output shape is:",
          lambda: parse([example(c=[1, 2, 3])], c=tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True)))
    fails("Could not parse example input, value: '", lambda: parse([b"\xff\xff"], c=dense))
    fails("Expected len\\(names\\) == len\\(serialized\\), but got: 2 vs. 1",
          lambda: parse([example(c=[1.0, 2.0])], ["a", "b"], c=dense))


@pytest.mark.parametrize("cut", range(1, 30))
def test_cut_off_messages(cut):
    whole = example(x=[1.0, 2.0], y=[b"abc"], n=[1, 300])
    wanted = {"x": tf.VarLenFeature(tf.float32), "y": tf.VarLenFeature(tf.string), "n": tf.VarLenFeature(tf.int64)}
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.parse_example([whole[:-cut]], wanted))


def test_sparse_feature():
    batch = [example(i=[3, 10], v=[1.5, 2.5]), example(i=[0], v=[3.5])]
    parsed = run(tf.parse_example(batch, {"s": tf.SparseFeature("i", "v", tf.float32, 20)}))["s"]
    assert parsed.indices.tolist() == [[0, 3], [0, 10], [1, 0]] and parsed.values.tolist() == [1.5, 2.5, 3.5]
    assert parsed.dense_shape.tolist() == [2, 20]


def test_single_example():
    parsed = run(tf.parse_single_example(example(x=[1.0, 2.0], y=[b"a"]), {
        "x": tf.FixedLenFeature([2], tf.float32), "y": tf.VarLenFeature(tf.string)}))
    assert parsed["x"].tolist() == [1, 2] and parsed["y"].indices.tolist() == [[0]]
    assert parsed["y"].dense_shape.tolist() == [1]
    named = run(tf.parse_single_example(example(y=[b"a"]), {"y": tf.VarLenFeature(tf.string)}, example_names="n"))
    assert named["y"].values.tolist() == [b"a"] and named["y"].indices.tolist() == [[0]]
    fails("Feature: x", lambda: tf.parse_single_example(example(), {"x": tf.FixedLenFeature([2], tf.float32)}))


def test_ragged_features():
    op = tf.raw_ops.ParseExampleV2(
        serialized=[example(x=[1, 2]), example(), example(x=[3])], names=[], sparse_keys=[], dense_keys=[],
        ragged_keys=["x"], dense_defaults=[], num_sparse=0, sparse_types=[], ragged_value_types=[tf.int64],
        ragged_split_types=[tf.int32], dense_shapes=[])
    values, splits = run([op.ragged_values[0], op.ragged_row_splits[0]])
    assert values.tolist() == [1, 2, 3] and splits.tolist() == [0, 2, 2, 3] and splits.dtype == np.int32


def test_sequence_examples():
    one = sequence_example({"c": [7]}, a=[[1, 2], [3, 4]], s=[[b"x"], tf.train.Feature(), [b"y", b"z"]])
    two = sequence_example({"c": [8]}, a=[[5, 6]])
    context = {"c": tf.FixedLenFeature([], tf.int64)}
    lists = {"a": tf.FixedLenSequenceFeature([2], tf.int64), "s": tf.VarLenFeature(tf.string)}
    c, parsed = run(tf.parse_single_sequence_example(one, context, lists))
    assert c["c"] == 7 and parsed["a"].tolist() == [[1, 2], [3, 4]]
    assert parsed["s"].indices.tolist() == [[0, 0], [2, 0], [2, 1]] and parsed["s"].dense_shape.tolist() == [3, 2]
    c, parsed, lengths = run(tf.io.parse_sequence_example([one, two], context, lists))
    assert c["c"].tolist() == [7, 8] and lengths["a"].tolist() == [2, 1]
    assert parsed["a"].tolist() == [[[1, 2], [3, 4]], [[5, 6], [0, 0]]]
    assert parsed["s"].indices.tolist() == [[0, 0, 0], [0, 2, 0], [0, 2, 1]]
    assert parsed["s"].dense_shape.tolist() == [2, 3, 2]
    fails("Feature list 'q' is required but could not be found.  Did you mean to include it in",
          lambda: tf.parse_single_sequence_example(one, None, {"q": tf.FixedLenSequenceFeature([2], tf.int64)})[1])
    fails(r"Key: a, Index: 1.  Number of int64 values != expected.  values size: 1 but output shape: \[2\]",
          lambda: tf.parse_single_sequence_example(
              sequence_example(a=[[1, 2], [3]]), None, {"a": tf.FixedLenSequenceFeature([2], tf.int64)})[1])
    fails("Feature list: a, Index: 0.  Data types don't match. Expected type: int64  Feature is: float_list",
          lambda: tf.parse_single_sequence_example(
              sequence_example(a=[[1.0]]), None, {"a": tf.FixedLenSequenceFeature([1], tf.int64)})[1])


def test_csv():
    lines = ['1,"a,""b""",2.5', "2,,", "3,c,0x10"]
    n, text, x = run(tf.decode_csv(lines, [[0], ["?"], [-1.0]]))
    assert n.tolist() == [1, 2, 3] and text.tolist() == [b'a,"b"', b"?", b"c"] and x.tolist() == [2.5, -1.0, 16.0]
    chosen = run(tf.decode_csv(["a|b|NA|4"], [[0], [0]], field_delim="|", na_value="NA", select_cols=[2, 3]))
    assert [c.tolist() for c in chosen] == [[0], [4]]
    for line, message in (("1", "Expect 2 fields but have 1 in record 0"),
                          ("x,1", "Field 0 in record 0 is not a valid int32: x"),
                          (",1", "Field 0 is required but missing in record 0"),
                          ('1"2,3', "Unquoted fields cannot have quotes"),
                          ('"1,2', "Quoted field has to end with quote"),
                          ('"1"x,2', "has to be escaped by another quote")):
        fails(message, lambda line=line: tf.decode_csv([line], [tf.constant([], tf.int32), [0]]))


def test_json():
    text = """{"features": {"feature": {"a": {"int64List": {"value": ["1", -2]}},
              "b": {"float_list": {"value": [0.5, "NaN"]}},
              "c\\u00e9": {"bytesList": {"value": ["YWI=", ""]}}, "d": {}}}}"""
    parsed = tf.train.Example.FromString(run(tf.io.decode_json_example(text))).features.feature
    assert list(parsed["a"].int64_list.value) == [1, -2] and list(parsed["cé"].bytes_list.value) == [b"ab", b""]
    assert parsed["b"].float_list.value[0] == 0.5 and np.isnan(parsed["b"].float_list.value[1])
    for bad in ("", "{", '{"x": 1}', '{"features": {"feature": {"a": {"int64List": {"value": [1.5]}}}}}', "{} {}",
                '{"features": {"feature": {"a": {"bytesList": {"value": ["?"]}}}}}', '{"features": "'):
        fails("Error while parsing JSON", lambda bad=bad: tf.io.decode_json_example(bad))


def test_compressed():
    data = b"compress me " * 1000
    assert run(tf.io.decode_compressed([zlib.compress(data), zlib.compress(b"")], "ZLIB")).tolist() == [data, b""]
    assert run(tf.io.decode_compressed(gzip.compress(data) + gzip.compress(b"+"), "GZIP")) == data + b"+"
    assert run(tf.io.decode_compressed(b"as is")) == b"as is"
    assert run(tf.io.decode_compressed(zlib.compress(data)[:-4], "ZLIB")) == data  # cut off, without its checksum
    with pytest.raises(tf.errors.DataLossError):
        run(tf.io.decode_compressed(b"nonsense", "ZLIB"))
    fails("Only ZLIB, GZIP or NONE are supported", lambda: tf.io.decode_compressed(b"", "LZ4"))


def test_compressed_bytes_have_a_limit(monkeypatch):
    program = (
        "import sys, zlib, penstock.v2 as tf\n"
        "small, large = zlib.compress(bytes(300_000)), zlib.compress(bytes(1_000_001))\n"
        "print([len(s) for s in tf.io.decode_compressed([small] * 3, 'ZLIB').numpy()])\n"
        "for bad in (large, [small] * 4):\n"
        "    try:\n"
        "        tf.io.decode_compressed(bad, 'ZLIB')\n"
        "    except tf.errors.ResourceExhaustedError as e:\n"
        "        print(e.message)\n"
        "print(len(tf.io.decode_compressed(bytes(2_000_000)).numpy()))\n")
    monkeypatch.setenv("PENSTOCK_MAX_DECOMPRESSED_BYTES", "1000000")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True)
    first, *errors, last = done.stdout.splitlines()
    assert first == "[300000, 300000, 300000]" and last == "2000000" and len(errors) == 2
    for message in errors:
        assert "More than 1000000 bytes come out of what is compressed" in message


def test_serialized_tensors():
    for value in (np.arange(6.0).reshape(2, 3), np.array([b"a", b""], object), np.array(True)):
        tensor = tf.constant(value)
        back = run(tf.io.parse_tensor(tf.io.serialize_tensor(tensor), tensor.dtype))
        np.testing.assert_array_equal(back, value)
    fails("Could not parse `serialized` as TensorProto", lambda: tf.io.parse_tensor(b"\xff", tf.int32))
    fails(r"Type mismatch between parsed tensor \(float\) and dtype \(int32\)",
          lambda: tf.io.parse_tensor(tf.io.serialize_tensor(1.0), tf.int32))
