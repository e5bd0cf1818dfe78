"""Summary ops: values as TensorFlow gives them; images and sounds decoded by the standard library."""
import io
import struct
import wave
import zlib

import numpy as np
import pytest

import penstock.v1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def run(op, feed=None):
    with tf.Session() as sess:
        return tf.Summary.FromString(sess.run(op, feed))


def decode_png(data):
    """Pixels [height, width, channels]; checks the chunks' checksums."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(data):
        size, = struct.unpack(">I", data[at:at + 4])
        body = data[at + 4:at + 8 + size]
        assert zlib.crc32(body) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0]
        chunks[body[:4]] = body[4:]
        at += 12 + size
    width, height, depth, kind = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    channels = {0: 1, 4: 2, 2: 3, 6: 4}[kind]
    assert depth == 8
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, -1)
    image = np.zeros((height, width * channels), np.uint8)
    for y, row in enumerate(rows):
        above = image[y - 1] if y else np.zeros_like(image[0])
        for x, value in enumerate(row[1:]):
            left = image[y, x - channels] if x >= channels else np.uint8(0)
            image[y, x] = (int(value) + int([0, left, above[x]][row[0]])) % 256
    return image.reshape(height, width, channels)


def test_scalars():
    summary = run(tf.raw_ops.ScalarSummary(tags=["a", "b"], values=np.float64([1.5, -2])))
    assert [(v.tag, v.simple_value) for v in summary.value] == [("a", 1.5), ("b", -2)]
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="not the same shape"):
        sess.run(tf.raw_ops.ScalarSummary(tags=tf.placeholder_with_default(["a"], None), values=[1., 2.]))


def test_histogram_has_tensorflows_buckets():
    values = np.array([-3.5, -1e-13, 0, 0, 1, 1, 2.5, 1e21, 7])
    histogram = run(tf.raw_ops.HistogramSummary(tag="h", values=tf.constant(values))).value[0].histo
    assert (histogram.min, histogram.max, histogram.num, histogram.sum) == (-3.5, 1e21, 9, values.sum())
    # Recorded from TensorFlow 2.21.
    assert list(histogram.bucket_limit) == [
        -3.8315657995195243, -3.48324163592684, -1e-12, 0, 1e-12, 0.917246389039776, 1.0089710279437536,
        2.3791009056258718, 2.6170109961884593, 6.7878525393626115, 7.4666377932988732, 9.9207756218597835e+19,
        1.7976931348623157e+308]
    assert list(histogram.bucket) == [0, 1, 0, 1, 2, 0, 2, 0, 1, 0, 1, 0, 1]
    for value, message in (np.nan, "Nan in summary"), (np.inf, "Infinity in summary"):
        with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=message):
            sess.run(tf.summary.histogram("h", [1.0, value]))


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_images_of_bytes(channels):
    pixels = np.random.RandomState(channels).randint(0, 256, [2, 33, 17, channels]).astype(np.uint8)
    pixels[1, 5:20] = 7  # something to compress
    summary = run(tf.summary.image("im", tf.constant(pixels)))
    assert [v.tag for v in summary.value] == ["im/image/0", "im/image/1"]
    for value, expected in zip(summary.value, pixels):
        np.testing.assert_array_equal(decode_png(value.image.encoded_image_string), expected)
        assert (value.image.height, value.image.width, value.image.colorspace) == (33, 17, channels)


def test_a_large_flat_image_is_small():
    pixels = np.zeros([1, 600, 500, 3], np.uint8)
    pixels[0, 300:, ::7] = 200
    image = run(tf.summary.image("im", tf.constant(pixels), max_outputs=1)).value[0].image.encoded_image_string
    np.testing.assert_array_equal(decode_png(image), pixels[0])
    assert len(image) < 20000


def test_images_of_floats_are_scaled():
    # Recorded from TensorFlow 2.21.
    for name, row, expected in (("i", [-1., 0.5, 2., np.nan], [64, 159, 255, 255]),
                                ("j", [.25, .5, 2., np.inf], [31, 63, 255, 255])):
        value = run(tf.summary.image(name, np.float32(row).reshape(1, 1, 4, 1), max_outputs=1)).value[0]
        assert value.tag == name + "/image"
        assert decode_png(value.image.encoded_image_string).ravel().tolist() == expected


def test_audio_of_a_rate_below_one():
    summary = run(tf.summary.audio("a", np.zeros((1, 4), np.float32), 0.25))
    assert summary.value[0].audio.sample_rate == 0.25


def test_audio():
    summary = run(tf.summary.audio("a", np.float32([[0, .5, -1, 1.5]]), 8000))
    audio = summary.value[0].audio
    assert (audio.sample_rate, audio.num_channels, audio.length_frames) == (8000, 1, 4)
    with wave.open(io.BytesIO(audio.encoded_audio_string)) as sound:
        assert sound.getparams()[:4] == (1, 2, 8000, 4)
        assert np.frombuffer(sound.readframes(4), "<i2").tolist() == [0, 16384, -32768, 32767]


def test_text_and_tensors():
    value = run(tf.summary.text("t", tf.constant(["a", "b"]))).value[0]
    assert value.metadata.plugin_data.plugin_name == "text" and list(tf.make_ndarray(value.tensor)) == [b"a", b"b"]
    value = run(tf.summary.tensor_summary("x", [1.0, 2.0], summary_description="d", display_name="n")).value[0]
    assert (value.tag, value.metadata.summary_description, value.metadata.display_name) == ("x", "d", "n")
    assert tf.make_ndarray(value.tensor).tolist() == [1, 2]


def test_merging():
    x = tf.placeholder(tf.float32, [])
    tf.summary.scalar("a", x)
    with tf.name_scope("n"):
        tf.summary.scalar("b c", x + 1, family="fam")
    merged = tf.summary.merge_all()
    assert merged.name == "Merge/MergeSummary:0"
    assert [(v.tag, v.simple_value) for v in run(merged, {x: 2}).value] == [("a", 2), ("fam/n/fam/b_c", 3)]
    again = tf.summary.merge([merged, tf.raw_ops.ScalarSummary(tags="a", values=1.)])
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="Duplicate tag a found"):
        sess.run(again, {x: 1})
    assert tf.summary.merge_all("nothing there") is None
