"""How images differ from each other and from pixel to pixel: psnr, ssim, total variation, edges."""
import numpy as np

from penstock._src.graph import constant_op, dtypes, gen, ops
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import cond, control_flow_ops
from penstock._src.ops.nn import nn_activation, nn_impl, nn_pool
from penstock._src.ops.image.image_checks import compatible_shapes
from penstock._src.ops.image.image_color import convert_image_dtype

__all__ = ["image_gradients", "psnr", "sobel_edges", "ssim", "ssim_multiscale", "total_variation"]


def total_variation(images, name=None):
    """The sum of the differences of neighbouring pixels."""
    with ops.name_scope(name, "total_variation"):
        rank = images.get_shape().ndims
        if rank == 3:
            down = images[1:, :, :] - images[:-1, :, :]
            right = images[:, 1:, :] - images[:, :-1, :]
            axis = None
        elif rank == 4:
            down = images[:, 1:, :, :] - images[:, :-1, :, :]
            right = images[:, :, 1:, :] - images[:, :, :-1, :]
            axis = [1, 2, 3]
        else:
            raise ValueError("'images' must be either 3 or 4-dimensional.")
        return (math_ops.reduce_sum(math_ops.abs(down), axis=axis)
                + math_ops.reduce_sum(math_ops.abs(right), axis=axis))


def psnr(a, b, max_val, name=None):
    """The peak signal-to-noise ratio in decibels."""
    with ops.name_scope(name, "PSNR", [a, b]):
        max_val = convert_image_dtype(math_ops.cast(max_val, a.dtype), dtypes.float32)
        a = convert_image_dtype(a, dtypes.float32)
        b = convert_image_dtype(b, dtypes.float32)
        mse = math_ops.reduce_mean(gen.squared_difference(a, b), [-3, -2, -1])
        ratio = math_ops.subtract(20 * gen.log(max_val) / gen.log(10.0),
                                  np.float32(10 / np.log(10)) * gen.log(mse), name="psnr")
        _, _, checks = compatible_shapes(a, b)
        with ops.control_dependencies(checks):
            return array_ops.identity(ratio)


def _luminance_and_contrast(x, y, reducer, max_val, k1, k2):
    """Both factors of SSIM: of the means, and of the variances."""
    c1 = (k1 * max_val) ** 2
    c2 = (k2 * max_val) ** 2
    mean_x, mean_y = reducer(x), reducer(y)
    means = mean_x * mean_y * 2.0
    squares_of_means = math_ops.square(mean_x) + math_ops.square(mean_y)
    luminance = (means + c1) / (squares_of_means + c1)
    products = reducer(x * y) * 2.0
    squares = reducer(math_ops.square(x) + math_ops.square(y))
    return luminance, (products - means + c2) / (squares - squares_of_means + c2)


def _gaussian_window(size, sigma):
    size = ops.convert_to_tensor(size, dtypes.int32)
    sigma = ops.convert_to_tensor(sigma)
    at = math_ops.cast(math_ops.range(size), sigma.dtype)
    at -= math_ops.cast(size - 1, sigma.dtype) / 2.0
    exponent = math_ops.square(at)
    exponent *= -0.5 / math_ops.square(sigma)
    exponent = array_ops.reshape(exponent, shape=[1, -1]) + array_ops.reshape(exponent, shape=[-1, 1])
    window = nn_activation.softmax(array_ops.reshape(exponent, shape=[1, -1]))
    return array_ops.reshape(window, shape=[size, size, 1, 1])


def _ssim_per_channel(img1, img2, max_val, filter_size, filter_sigma, k1, k2, index_map=False):
    filter_size = constant_op.constant(filter_size, dtype=dtypes.int32)
    filter_sigma = constant_op.constant(filter_sigma, dtype=img1.dtype)
    shape1, shape2 = array_ops.shape_n([img1, img2])
    checks = [control_flow_ops.Assert(math_ops.reduce_all(gen.greater_equal(shape[-3:-1], filter_size)),
                                      [shape, filter_size], summarize=8) for shape in (shape1, shape2)]
    with ops.control_dependencies(checks):
        img1 = array_ops.identity(img1)
    kernel = _gaussian_window(filter_size, filter_sigma)
    kernel = gen.tile(kernel, multiples=[1, 1, shape1[-1], 1])

    def reducer(x):
        shape = array_ops.shape(x)
        x = array_ops.reshape(x, shape=array_ops.concat([[-1], shape[-3:]], 0))
        y = nn_impl.depthwise_conv2d(x, kernel, strides=[1, 1, 1, 1], padding="VALID")
        return array_ops.reshape(y, array_ops.concat([shape[:-3], array_ops.shape(y)[1:]], 0))

    luminance, contrast = _luminance_and_contrast(img1, img2, reducer, max_val, k1, k2)
    axes = constant_op.constant([-3, -2], dtype=dtypes.int32)
    similarity = luminance * contrast
    return similarity if index_map else math_ops.reduce_mean(similarity, axes), math_ops.reduce_mean(contrast, axes)


def ssim(img1, img2, max_val, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03, return_index_map=False):
    """Structural similarity: one number for each pair of images, or (`return_index_map`) one for each place."""
    img1, img2 = ops.convert_to_tensor(img1, name="img1"), ops.convert_to_tensor(img2, name="img2")
    _, _, checks = compatible_shapes(img1, img2)
    with ops.control_dependencies(checks):
        img1 = array_ops.identity(img1)
    max_val = convert_image_dtype(math_ops.cast(max_val, img1.dtype), dtypes.float32)
    img1 = convert_image_dtype(img1, dtypes.float32)
    img2 = convert_image_dtype(img2, dtypes.float32)
    by_channel, _ = _ssim_per_channel(img1, img2, max_val, filter_size, filter_sigma, k1, k2, return_index_map)
    return math_ops.reduce_mean(by_channel, [-1])


def ssim_multiscale(img1, img2, max_val, power_factors=(0.0448, 0.2856, 0.3001, 0.2363, 0.1333), filter_size=11,
                    filter_sigma=1.5, k1=0.01, k2=0.03):
    """Structural similarity of images at several sizes, each half of the one before."""
    with ops.name_scope(None, "MS-SSIM", [img1, img2]):
        img1 = ops.convert_to_tensor(img1, name="img1")
        img2 = ops.convert_to_tensor(img2, name="img2")
        shape1, shape2, checks = compatible_shapes(img1, img2)
        with ops.control_dependencies(checks):
            img1 = array_ops.identity(img1)
        max_val = convert_image_dtype(math_ops.cast(max_val, img1.dtype), dtypes.float32)
        images = [convert_image_dtype(img1, dtypes.float32), convert_image_dtype(img2, dtypes.float32)]
        heads = [shape[:-3] for shape in (shape1, shape2)]
        tails = [shape[-3:] for shape in (shape1, shape2)]
        halves = [1, 2, 2, 1]
        divisor = constant_op.constant(halves[1:], dtype=dtypes.int32)

        def padded(batches, remainder):
            padding = array_ops.pad(array_ops.expand_dims(remainder, -1), [[1, 0], [1, 0]])
            return [array_ops.pad(x, padding, mode="SYMMETRIC") for x in batches]

        factors = []
        for level in range(len(power_factors)):
            with ops.name_scope(None, f"Scale{level}", images):
                if level > 0:
                    flat = [array_ops.reshape(x, array_ops.concat([[-1], t], 0)) for x, t in zip(images, tails)]
                    remainder = tails[0] % divisor
                    uneven = math_ops.reduce_any(math_ops.not_equal(remainder, 0))
                    flat = cond.cond(uneven, lambda: padded(flat, remainder), lambda: flat)
                    flat = [nn_pool.avg_pool(x, ksize=halves, strides=halves, padding="VALID") for x in flat]
                    tails = [shape[1:] for shape in array_ops.shape_n(flat)]
                    images = [array_ops.reshape(x, array_ops.concat([h, t], 0))
                              for x, h, t in zip(flat, heads, tails)]
                by_channel, contrast = _ssim_per_channel(*images, max_val=max_val, filter_size=filter_size,
                                                         filter_sigma=filter_sigma, k1=k1, k2=k2)
                factors.append(gen.relu(contrast))
        factors[-1] = gen.relu(by_channel)  # the last size counts with both factors
        product = math_ops.reduce_prod(math_ops.pow(array_ops.stack(factors, axis=-1), power_factors), [-1])
        return math_ops.reduce_mean(product, [-1])


def image_gradients(image):
    """(differences to the row below, to the column on the right), 0 in the last."""
    if image.get_shape().ndims != 4:
        raise ValueError("image_gradients expects a 4D tensor [batch_size, h, w, d], not "
                         f"{image.get_shape()}.")
    shape = array_ops.shape(image)
    batch, height, width, depth = array_ops.unstack(shape)
    dy = image[:, 1:, :, :] - image[:, :-1, :, :]
    dx = image[:, :, 1:, :] - image[:, :, :-1, :]
    last_row = array_ops.stack([batch, 1, width, depth])
    dy = array_ops.reshape(array_ops.concat([dy, array_ops.zeros(last_row, image.dtype)], 1), shape)
    last_column = array_ops.stack([batch, height, 1, depth])
    dx = array_ops.reshape(array_ops.concat([dx, array_ops.zeros(last_column, image.dtype)], 2), shape)
    return dy, dx


def sobel_edges(image):
    """Sobel's edges, [..., 2]: vertical and horizontal."""
    known = image.get_shape()
    shape = array_ops.shape(image)
    kernels = np.asarray([[[-1, -2, -1], [0, 0, 0], [1, 2, 1]], [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]])
    kernels = np.expand_dims(np.transpose(kernels, (1, 2, 0)), -2)
    filters = constant_op.constant(kernels, dtype=image.dtype)
    filters = gen.tile(filters, [1, 1, shape[-1], 1], name="sobel_filters")
    padded = array_ops.pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    output = nn_impl.depthwise_conv2d(padded, filters, [1, 1, 1, 1], "VALID")
    output = array_ops.reshape(output, shape=array_ops.concat([shape, [2]], 0))
    output.set_shape(known.concatenate([2]))
    return output
