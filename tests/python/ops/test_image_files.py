"""Image files: what is encoded is decoded again, and TensorFlow's own bytes and pixels."""
import hashlib
import zlib

import numpy as np
import pytest

import penstock.v1 as tf

RGB = (np.arange(20 * 30 * 3) * 7 % 251).astype(np.uint8).reshape(20, 30, 3)
SMOOTH = np.add.outer(np.arange(33) * 5, np.arange(47) * 3)[..., None] % 256 // 2 + np.array([0, 40, 90])
SMOOTH = SMOOTH.astype(np.uint8)


@pytest.fixture
def run():
    with tf.Graph().as_default(), tf.Session() as sess:
        yield sess.run


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_png_there_and_back(run, dtype, channels):
    image = np.random.RandomState(0).randint(0, np.iinfo(dtype).max, (17, 13, channels)).astype(dtype)
    for compression in (-1, 0, 9):
        contents = tf.image.encode_png(tf.constant(image), compression)
        assert contents.shape == []
        np.testing.assert_array_equal(run(tf.image.decode_png(contents, dtype=tf.as_dtype(dtype))), image)
        plain = run(tf.image.decode_png(contents))
        np.testing.assert_array_equal(plain, image if dtype == np.uint8 else image >> 8)
        rgb = run(tf.image.decode_png(contents, channels=3))
        assert rgb.shape == (17, 13, 3)


def test_png_to_gray(run):
    pixels = np.array([[[255, 0, 0], [0, 255, 0], [0, 0, 255], [200, 100, 50], [128, 128, 127]]], np.uint8)
    gray = run(tf.image.decode_png(tf.image.encode_png(pixels), channels=1))
    assert gray.ravel().tolist() == [76, 149, 29, 124, 127]
    wide = np.array([[[65535, 0, 0], [0, 65535, 0], [0, 0, 65535]]], np.uint16)
    gray = run(tf.image.decode_png(tf.image.encode_png(tf.constant(wide)), channels=1, dtype=tf.uint16))
    assert gray.ravel().tolist() == [19594, 38467, 7474]


def png(color, depth, width, rows, interlace=0, extra=b"", filtered=False):
    """A file made by hand."""
    def chunk(kind, data):
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")

    header = width.to_bytes(4, "big") + len(rows).to_bytes(4, "big") + bytes([depth, color, 0, 0, interlace])
    lines = b"".join(row if filtered else b"\0" + row for row in rows)
    parts = chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_png_filters(run, dtype, channels):
    """Lines filtered in each of the five ways, by the standard's formulas."""
    image = np.random.RandomState(0).randint(0, np.iinfo(dtype).max, (300, 70, channels)).astype(dtype)
    raw = image.astype(image.dtype.newbyteorder(">")).reshape(300, -1).view(np.uint8).astype(int)
    size = channels * image.itemsize
    left, up = np.pad(raw[:, :-size], ((0, 0), (size, 0))), np.pad(raw[:-1], ((1, 0), (0, 0)))
    corner = np.pad(up[:, :-size], ((0, 0), (size, 0)))
    p = left + up - corner
    a, b, c = abs(p - left), abs(p - up), abs(p - corner)
    nearest = np.where((a <= b) & (a <= c), left, np.where(b <= c, up, corner))
    guesses = [0 * raw, left, up, (left + up) // 2, nearest]
    rows = [bytes([r % 5]) + ((raw[r] - guesses[r % 5][r]) % 256).astype(np.uint8).tobytes() for r in range(300)]
    data = png({1: 0, 2: 4, 3: 2, 4: 6}[channels], 8 * image.itemsize, 70, rows, filtered=True)
    np.testing.assert_array_equal(run(tf.image.decode_png(data, dtype=tf.as_dtype(dtype))), image)


def test_png_of_few_bits_and_with_a_palette(run):
    bits = run(tf.image.decode_png(png(0, 1, 10, [b"\xa5\x40", b"\xff\xc0"])))
    assert bits[..., 0].tolist() == [[255, 0, 255, 0, 0, 255, 0, 255, 0, 255], [255] * 10]
    kind = b"PLTE" + bytes([1, 2, 3, 40, 50, 60])
    palette = (6).to_bytes(4, "big") + kind + zlib.crc32(kind).to_bytes(4, "big")
    assert run(tf.image.decode_png(png(3, 8, 2, [b"\x01\x00"], extra=palette))).tolist() == [[[40, 50, 60], [1, 2, 3]]]


def test_jpeg_is_that_of_tensorflow(run):
    contents = run(tf.image.encode_jpeg(SMOOTH))
    decoded = run(tf.image.decode_jpeg(contents))
    assert np.abs(decoded.astype(int) - SMOOTH).max() < 60
    assert run(tf.image.extract_jpeg_shape(contents)).tolist() == [33, 47, 3]
    for ratio in (1, 2, 4, 8):
        small = run(tf.image.decode_jpeg(contents, channels=1, ratio=ratio))
        assert small.shape == (-(-33 // ratio), -(-47 // ratio), 1)
    crop = run(tf.image.decode_and_crop_jpeg(contents, [5, 7, 9, 11]))
    np.testing.assert_array_equal(crop, decoded[5:14, 7:18])
    gray = run(tf.image.encode_jpeg(SMOOTH[..., :1], quality=80, progressive=True))
    assert run(tf.image.decode_jpeg(gray)).shape == (33, 47, 1)
    assert run(tf.image.decode_jpeg(gray, channels=3)).shape == (33, 47, 3)
    same = run(tf.raw_ops.EncodeJpegVariableQuality(images=SMOOTH, quality=95))
    assert same == contents
    assert hashlib.sha256(run(tf.image.encode_jpeg(RGB))).hexdigest() == RGB_JPEG


RGB_JPEG = "8ea3844b0364af5f5473169d8bf3ea660e43da36f2e1abfb01892524f797f67b"


def test_gif_and_bmp(run):
    gif = bytes.fromhex("47494638396103000200910000ff000000ff000000ffffffff2c00000000030002000002038404a1003b")
    frames = run(tf.image.decode_gif(gif))
    assert frames.shape == (1, 2, 3, 3)
    rows = b"".join(bytes([3 * i, 3 * i + 1, 3 * i + 2]) for i in range(2)) + b"\0\0"
    bmp = b"BM" + bytes(8) + (54).to_bytes(4, "little") + (40).to_bytes(4, "little") + (2).to_bytes(4, "little")
    bmp += (1).to_bytes(4, "little") + (1).to_bytes(2, "little") + (24).to_bytes(2, "little") + bytes(24) + rows
    assert run(tf.image.decode_bmp(bmp)).tolist() == [[[2, 1, 0], [5, 4, 3]]]
    for contents, shape in ((gif, (1, 2, 3, 3)), (bmp, (1, 2, 3)), (png(0, 8, 1, [b"\7"]), (1, 1, 1))):
        image = run(tf.raw_ops.DecodeImage(contents=contents, dtype=tf.float32))
        assert image.shape == shape and image.max() <= 1


def test_damaged_files_are_refused(run):
    contents = tf.placeholder(tf.string, [])
    jpeg, good_png = run([tf.image.encode_jpeg(SMOOTH), tf.image.encode_png(RGB)])
    decoders = [tf.image.decode_jpeg(contents), tf.image.decode_png(contents), tf.image.decode_gif(contents),
                tf.image.decode_bmp(contents), tf.raw_ops.DecodeImage(contents=contents)]
    for decoder in decoders:
        for bad in (b"", b"x", b"GIF89a", b"BM" + bytes(40), jpeg[:50], good_png[:60],
                    good_png[:30] + b"\1" + good_png[31:]):
            with pytest.raises(tf.errors.InvalidArgumentError):
                run(decoder, {contents: bad})
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.image.decode_jpeg(contents), {contents: jpeg[:-100]})
    whole = run(tf.image.decode_jpeg(contents, try_recover_truncated=True), {contents: jpeg[:-100]})
    assert whole.shape == SMOOTH.shape
    for window in ([0, 0, 50, 10], [0, 0, -3, 10]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="crop window"):
            run(tf.image.decode_and_crop_jpeg(contents, window), {contents: jpeg})
    with pytest.raises(tf.errors.InvalidArgumentError, match="quality"):
        run(tf.raw_ops.EncodeJpegVariableQuality(images=SMOOTH, quality=101))


def test_few_bytes_cannot_claim_much(run):
    """Neither gigabytes of pixels that are not there, nor endless passes over them."""
    contents = tf.placeholder(tf.string, [])
    size = (10000).to_bytes(4, "big")
    bomb = b"\x89PNG\r\n\x1a\n"
    for kind, data in ((b"IHDR", size + size + bytes([16, 6, 0, 0, 0])), (b"IDAT", zlib.compress(b"")), (b"IEND", b"")):
        bomb += len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
    with pytest.raises(tf.errors.InvalidArgumentError, match="too early"):
        run(tf.image.decode_png(contents), {contents: bomb})

    jpeg = run(tf.image.encode_jpeg(SMOOTH, progressive=True))
    first = jpeg.index(b"\xff\xda")
    second = jpeg.index(b"\xff\xda", first + 1)
    assert run(tf.image.decode_jpeg(contents), {contents: jpeg[:first] + jpeg[first:second] * 9 + jpeg[second:]}).shape
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.image.decode_jpeg(contents), {contents: jpeg[:first] + jpeg[first:second] * 600 + jpeg[second:]})

    # A canvas of one pixel, and 60 frames of 10000 by 10000.
    frame = bytes.fromhex("2c00000000102710270008") + b"\x01\x44\x00"
    gif = bytes.fromhex("47494638396101000100910000ff000000ff000000ffffffff") + frame * 60 + b"\x3b"
    with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
        run(tf.image.decode_gif(contents), {contents: gif})
    # Most of such a frame is outside of the canvas, and its data end early.
    image = run(tf.image.decode_gif(contents), {contents: gif.replace(frame * 60, frame * 5)})
    assert image.shape == (5, 1, 1, 3)


def test_png_files_of_a_batch():
    with tf.Graph().as_default(), tf.Session() as sess:
        pixels = np.arange(2 * 3 * 4 * 5 * 3, dtype=np.uint8).reshape(2, 3, 4, 5, 3)
        files = tf.image.encode_png(pixels)
        assert files.shape == (2, 3)
        found = sess.run(files)
        for i in range(2):
            for j in range(3):
                np.testing.assert_array_equal(sess.run(tf.image.decode_png(found[i, j])), pixels[i, j])
        empty = tf.image.encode_png(np.zeros([0, 4, 4, 3], np.uint8))
        assert sess.run(empty).shape == (0,)
        with pytest.raises(ValueError, match="rank"):
            tf.image.encode_png(np.zeros([4, 4], np.uint8))


def test_each_decoder_reads_the_others_formats(run):
    """As far as its result can hold them; messages as TensorFlow's."""
    png, jpeg = run([tf.image.encode_png(RGB), tf.image.encode_jpeg(SMOOTH)])
    still = bytes.fromhex("47494638396101000100800000102030ffffff2c00000000010001000002024401003b")
    frame = still[still.index(b"\x2c"):-1]
    moving = still[:-1] + frame + b"\x3b"
    bmp = b"BM" + bytes(8) + (54).to_bytes(4, "little") + (40).to_bytes(4, "little") + (1).to_bytes(4, "little") * 2 \
        + b"\1\0\x18\0" + bytes(24) + b"\3\2\1\0"
    image = tf.image
    pixels = run(image.decode_jpeg(jpeg))
    np.testing.assert_array_equal(run(image.decode_jpeg(png)), RGB)
    np.testing.assert_array_equal(run(image.decode_png(jpeg)), pixels)
    np.testing.assert_array_equal(run(image.decode_png(jpeg, dtype=tf.uint16)), pixels.astype(np.uint16) * 256)
    np.testing.assert_array_equal(run(image.decode_gif(png)), RGB[None])
    assert run(image.decode_jpeg(still)).tolist() == [[[16, 32, 48]]]
    assert run(image.decode_gif(moving)).shape == (2, 1, 1, 3)
    assert run(tf.raw_ops.DecodeImage(contents=moving, expand_animations=False)).tolist() == [[[16, 32, 48]]]
    wrong = {
        "Got 2 frames": image.decode_png(moving), "BMP format using a wrong op.*DecodeJpeg": image.decode_jpeg(bmp),
        "PNG format using DecodeBmp": image.decode_bmp(png), "JPEG only, but detected PNG":
        image.decode_and_crop_jpeg(png, [0, 0, 1, 1]), "JPEG does not support 4": image.decode_png(jpeg, channels=4),
        "0 or 3 for GIF, got 1": image.decode_jpeg(still, channels=1),
        "0, 3 or 4 for BMP, but got 1": image.decode_bmp(bmp, channels=1), "Input is empty": image.decode_png(b""),
        "Unknown image file format": image.decode_gif(b"nothing"),
    }
    for message, decoded in wrong.items():
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            run(decoded)


def test_float_pixels_are_products(run):
    x = np.arange(256, dtype=np.uint8).reshape(16, 16, 1)
    contents = tf.image.encode_png(x)
    np.testing.assert_array_equal(run(tf.image.decode_image(contents, dtype=tf.float32)),
                                  (x.astype(np.float32) * 257) * np.float32(1 / 65535))


def bmp(pixels):
    """A file of pixels in the order in which it has them: rows from below, blue before red."""
    height, width, channels = pixels.shape
    row = -(-width * channels // 4) * 4
    data = b"".join(line.tobytes().ljust(row, b"\0") for line in pixels)
    header = np.array([40, width, height], "<i4").tobytes() + np.array([1, 8 * channels], "<i2").tobytes()
    return (b"BM" + np.array([54 + len(data), 0, 54], "<i4").tobytes() + header.ljust(40, b"\0") + data)


def test_channels_of_bmp(run):
    stored = np.random.RandomState(0).randint(0, 256, (2, 3, 4)).astype(np.uint8)
    image = stored[::-1, :, [2, 1, 0, 3]]
    opaque = np.dstack([image[..., :3], np.full([2, 3], 255, np.uint8)])
    gray = stored[::-1, :, :1]
    for own, channels, expected in [
            (4, 0, image), (4, 3, image[..., :3]), (4, 4, image), (3, 0, image[..., :3]), (3, 4, opaque), (1, 0, gray),
            (1, 3, np.repeat(gray, 3, 2)), (1, 4, np.dstack([gray, gray, gray, opaque[..., 3:]]))]:
        np.testing.assert_array_equal(run(tf.image.decode_bmp(bmp(stored[..., :own]), channels)), expected)


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_png_of_few_bits_is_opaque(run, depth):
    # TensorFlow gives alpha the largest number of the file's depth, as 1 or 15.
    pixels = np.arange(2 * 8).reshape(2, 8) % 2**depth
    lines = b"".join(b"\0" + np.packbits((line[:, None] >> np.arange(depth)[::-1] & 1).astype(np.uint8)).tobytes()
                     for line in pixels)
    palette = np.random.RandomState(depth).randint(0, 256, (2**depth, 3)).astype(np.uint8)

    def chunk(kind, data):
        body = kind + data
        return len(data).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")

    for color in (0, 3):
        size = b"".join(n.to_bytes(4, "big") for n in (8, 2))
        file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size + bytes([depth, color, 0, 0, 0])) + (
            chunk(b"PLTE", palette.tobytes()) + chunk(b"tRNS", bytes(2**depth + 1)) if color else b"") + chunk(
                b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
        expected = palette[pixels] if color else np.repeat(pixels[..., None] * (255 // (2**depth - 1)), 3, 2)
        np.testing.assert_array_equal(run(tf.image.decode_png(file, 3)), expected)
        assert run(tf.image.decode_png(file)).shape[-1] == (3 if color else 1)  # alpha that is too long does not count
        np.testing.assert_array_equal(run(tf.image.decode_png(file, 4)), np.dstack([expected, np.full([2, 8], 255)]))
