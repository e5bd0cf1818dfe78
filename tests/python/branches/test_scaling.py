"""Images that are scaled and cut out: gradients are the transposes of the forward maps, crops are those of NumPy."""
import numpy as np
import penstock.v2 as tf
from branch_testing import branches

SIZES = [(1, 1), (1, 5), (2, 3), (4, 4), (7, 6), (9, 16)]


@branches("resize/pixel", "resize/line")
def test_gradients_of_resizing(case):
    raw = tf.raw_ops
    kinds = [(raw.ResizeBilinear, raw.ResizeBilinearGrad, "original_image"),
             (raw.ResizeBicubic, raw.ResizeBicubicGrad, "original_image"),
             (raw.ResizeNearestNeighbor, raw.ResizeNearestNeighborGrad, None)]
    for channels in (1, 3, 4, 5):
        for h, w in SIZES:
            for nh, nw in [(1, 3), (5, 4), (h, w), (3 * h, 2 * w)]:
                for corners in (dict(), dict(align_corners=True), dict(half_pixel_centers=True)):
                    x, dy = case.floats(2, h, w, channels), case.floats(2, nh, nw, channels)
                    for forward, backward, original in kinds:
                        y = forward(images=x, size=[nh, nw], **corners).numpy().astype(np.float64)
                        given = {original: x} if original else dict(size=[h, w])
                        dx = backward(grads=dy, **given, **corners)
                        case.check(np.float64((dx.numpy().astype(np.float64) * x).sum()), (y * dy).sum(),
                                   f"{backward} {x.shape} to {nh} x {nw} {corners}", 1e-4, 1e-3)
                        case.check(dx, dx.numpy().copy(), "the same bits", 0, 0)


def cropped(image, box, size, method):
    """A crop of one image in double precision; 0.25 outside."""
    places = []
    for axis in range(2):
        last, low, high, count = image.shape[axis] - 1, box[axis], box[axis + 2], size[axis]
        places.append(np.linspace(low, high, count) * last if count > 1 else np.array([(low + high) / 2 * last]))
    out = np.full((*size, image.shape[2]), 0.25)
    for i, y in enumerate(places[0]):
        for j, x in enumerate(places[1]):
            if not (0 <= y <= image.shape[0] - 1 and 0 <= x <= image.shape[1] - 1):
                continue
            if method == "nearest":
                out[i, j] = image[int(np.floor(y + 0.5)), int(np.floor(x + 0.5))]
                continue
            top, left = int(y), int(x)
            below, right = int(np.ceil(y)), int(np.ceil(x))
            upper = image[top, left] + (image[top, right] - image[top, left]) * (x - left)
            lower = image[below, left] + (image[below, right] - image[below, left]) * (x - left)
            out[i, j] = upper + (lower - upper) * (y - top)
    return out


@branches()
def test_crops(case):
    for dtype in (np.uint8, np.int16, np.float16, np.float32, np.float64):
        for h, w in SIZES:
            for size in [(1, 1), (1, 3), (4, 1), (3, 5), (8, 2)]:
                channels = int(case.random.integers(1, 6))
                x = case.random.integers(0, 100, (3, h, w, channels)).astype(dtype)
                boxes = case.random.uniform(-0.3, 1.3, (5, 4)).astype(np.float32)
                which = case.random.integers(0, 3, 5)
                for method in ("bilinear", "nearest"):
                    want = np.stack([cropped(x[i].astype(np.float64), b.astype(np.float64), size, method)
                                     for i, b in zip(which, boxes)])
                    found = tf.image.crop_and_resize(x, boxes, which, size, method, 0.25)
                    case.check(found, want, f"{np.dtype(dtype)} {x.shape} {size} {method}", 1e-4, 1e-2)
