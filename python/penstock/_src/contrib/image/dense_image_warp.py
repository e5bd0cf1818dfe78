"""Images whose pixels are taken from where a flow field points."""
import numpy as np

from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.core_ops import math_ops

__all__ = ["dense_image_warp"]


def _interpolate_bilinear(grid, query_points, name="interpolate_bilinear", indexing="ij"):
    """Values [batch, n, channels] of `grid` [batch, height, width, channels] at the points [batch, n, 2], which are
    rows and columns ("ij") or the other way round ("xy"); what lies outside is moved to the border.

    ValueError for another rank of the grid or another indexing.
    """
    if indexing not in ("ij", "xy"):
        raise ValueError("Indexing mode must be 'ij' or 'xy'")
    with ops.name_scope(name):
        grid = ops.convert_to_tensor(grid)
        points = ops.convert_to_tensor(query_points)
        if grid.shape.ndims != 4:
            raise ValueError("Grid must be 4 dimensional. Received size: %s" % grid.shape)
        batch, height, width, channels = array_ops.unstack(array_ops.shape(grid))
        checks = [
            check_ops.assert_equal(points.shape.ndims, 3, message="Query points must be 3 dimensional."),
            check_ops.assert_equal(array_ops.shape(points)[2], 2, message="Query points must be size 2 in dim 2."),
            check_ops.assert_greater_equal(height, 2, message="Grid height must be at least 2."),
            check_ops.assert_greater_equal(width, 2, message="Grid width must be at least 2."),
            check_ops.assert_less_equal(
                math_ops.cast(batch * height * width, dtypes.float32), np.iinfo(np.int32).max / 8,
                message="The image or batch is so large that places in it may exceed the int32 limit.")]
        with ops.control_dependencies(checks):
            parts = array_ops.unstack(points, axis=2)
            pixels = array_ops.reshape(grid, [batch * height * width, channels])
        before, weights = [], []
        for queries, size in zip(parts if indexing == "ij" else parts[::-1], (height, width)):
            last = math_ops.cast(size - 2, points.dtype)
            low = gen.minimum(gen.maximum(math_ops.cast(0, points.dtype), gen.floor(queries)), last)
            before.append(math_ops.cast(low, dtypes.int32))
            weight = math_ops.cast(queries - low, grid.dtype)
            one = math_ops.cast(1, grid.dtype)
            weights.append(array_ops.expand_dims(gen.minimum(gen.maximum(one - one, weight), one), 2))
        first = array_ops.reshape(math_ops.range(batch) * height * width, [batch, 1])

        def corner(down, right):
            places = first + (before[0] + down) * width + before[1] + right
            return array_ops.reshape(array_ops.gather(pixels, places), [batch, array_ops.shape(points)[1], channels])

        top_left, bottom_left = corner(0, 0), corner(1, 0)
        top = weights[1] * (corner(0, 1) - top_left) + top_left
        bottom = weights[1] * (corner(1, 1) - bottom_left) + bottom_left
        return weights[0] * (bottom - top) + top


def dense_image_warp(image, flow, name="dense_image_warp"):
    """Images [batch, height, width, channels] with, at (b, y, x), what `image` has at (b, y - flow[b, y, x, 0],
    x - flow[b, y, x, 1]), interpolated linearly; the border's value lies outside. `flow` is [batch, height, width, 2].

    Both are half, float32 or float64, not necessarily the same. ValueError for another rank; InvalidArgumentError if
    height or width is below 2.
    """
    with ops.name_scope(name):
        image = ops.convert_to_tensor(image)
        flow = ops.convert_to_tensor(flow)
        batch, height, width, channels = array_ops.unstack(array_ops.shape(image), 4)
        x, y = array_ops.meshgrid(math_ops.range(width), math_ops.range(height))
        here = math_ops.cast(array_ops.stack([y, x], axis=2), flow.dtype)
        points = array_ops.reshape(array_ops.expand_dims(here, 0) - flow, [batch, height * width, 2])
        return array_ops.reshape(_interpolate_bilinear(image, points), [batch, height, width, channels])
