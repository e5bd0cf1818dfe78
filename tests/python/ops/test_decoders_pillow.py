"""PNG and GIF files against Pillow (libpng and its GIF decoder), in both directions; runs where Pillow is installed."""
import io

import numpy as np
import pytest

import penstock.v1 as tf

Image = pytest.importorskip("PIL.Image")
SIZES = [(1, 1), (3, 7), (16, 9), (67, 130)]


def run(make):
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(make())


def pixels(rng, kind, size, channels):
    """Noise, a gradient, or flat areas."""
    h, w = size
    if kind == "noise":
        return rng.randint(0, 256, (h, w, channels)).astype(np.uint8)
    y, x, c = np.ogrid[:h, :w, :channels]
    return (((x // 5 + y // 3 + c) % 4 * 60) if kind == "flat" else (2 * x + 3 * y + 40 * c) % 256).astype(np.uint8)


def written(image, **options):
    out = io.BytesIO()
    image.save(out, **options)
    return out.getvalue()


@pytest.mark.parametrize("kind", ["noise", "gradient", "flat"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("channels, mode", [(1, "L"), (2, "LA"), (3, "RGB"), (4, "RGBA")])
def test_png_files_of_pillow_are_read_and_ours_are_read_by_it(channels, mode, size, kind):
    x = pixels(np.random.RandomState(channels), kind, size, channels)
    for level in (0, 1, 9):
        png = written(Image.fromarray(x[..., 0] if channels == 1 else x, mode), format="PNG", compress_level=level)
        np.testing.assert_array_equal(run(lambda: tf.image.decode_png(png)), x)
    ours = Image.open(io.BytesIO(run(lambda: tf.image.encode_png(x))))
    assert ours.mode == mode
    np.testing.assert_array_equal(np.asarray(ours).reshape(x.shape), x)


@pytest.mark.parametrize("size", SIZES)
def test_png_files_of_16_bits_and_of_a_palette_are_read(size):
    rng = np.random.RandomState(1)
    wide = rng.randint(0, 65536, size).astype(np.uint16)
    png = written(Image.fromarray(wide), format="PNG")
    np.testing.assert_array_equal(run(lambda: tf.image.decode_png(png, dtype=tf.uint16))[..., 0], wide)
    for colors in (2, 4, 16, 200):
        image = Image.fromarray(pixels(rng, "noise", size, 3), "RGB").quantize(colors)
        png = written(image, format="PNG")
        expected = np.asarray(image.convert("RGB"))
        np.testing.assert_array_equal(run(lambda: tf.image.decode_png(png, channels=3)), expected)


@pytest.mark.parametrize("kind", ["noise", "gradient", "flat"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("interlace", [0, 1])
def test_gif_files_of_pillow_are_read(interlace, size, kind):
    rng = np.random.RandomState(2)
    frames = [Image.fromarray(pixels(rng, kind, size, 1)[..., 0] ^ np.uint8(37 * i), "L") for i in range(3)]
    gif = written(frames[0], format="GIF", save_all=True, append_images=frames[1:], interlace=interlace, disposal=1)
    expected = []
    with Image.open(io.BytesIO(gif)) as image:
        for i in range(image.n_frames):
            image.seek(i)
            expected.append(np.asarray(image.convert("RGB")))
    np.testing.assert_array_equal(run(lambda: tf.image.decode_gif(gif)), np.stack(expected))
