"""einsum, lbeta and Bessel functions."""
import logging
import re
import string

from penstock._src.graph import dtypes, gen, ops
from penstock._src.core_ops import array_ops, math_ops

__all__ = ["bessel_i0", "bessel_i1", "einsum", "erfcinv", "lbeta"]


def lbeta(x, name=None):
    """The logarithm of the beta function along the last dimension."""
    with ops.name_scope(name, "lbeta", [x]):
        x = ops.convert_to_tensor(x, name="x")
        product = math_ops.reduce_sum(gen.lgamma(x), axis=[-1])
        return product - gen.lgamma(math_ops.reduce_sum(x, axis=[-1]))


def erfcinv(x, name=None):
    """The inverse of erfc."""
    with ops.name_scope(name, "erfcinv", [x]):
        x = ops.convert_to_tensor(x, name="x")
        if x.dtype not in (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64):
            raise TypeError(f"x.dtype={x.dtype} is not handled.")
        return -gen.ndtri(0.5 * x) * 0.5 ** 0.5


def bessel_i0(x, name=None):
    """The modified Bessel function of order 0."""
    with ops.name_scope(name, "bessel_i0", [x]):
        return gen.exp(math_ops.abs(x)) * gen.bessel_i0e(x)


def bessel_i1(x, name=None):
    """The modified Bessel function of order 1."""
    with ops.name_scope(name, "bessel_i1", [x]):
        return gen.exp(math_ops.abs(x)) * gen.bessel_i1e(x)


def einsum(equation, *inputs, **kwargs):
    """Sums of products over axes named by letters: "ij,jk->ik" is the matrix product."""
    name = kwargs.pop("name", None)
    if kwargs:
        raise TypeError("invalid keyword arguments for this function: " + ", ".join(sorted(kwargs)))
    with ops.name_scope(name, "einsum", [equation, inputs]):
        of_tensor = next((x.dtype for x in inputs if isinstance(x, ops.Tensor)), None)
        inputs = [x if isinstance(x, ops.Tensor) else ops.convert_to_tensor(x, of_tensor) for x in inputs]
        if any(x.shape.ndims is None for x in inputs):
            return gen.einsum(inputs, equation.replace(" ", ""))
        labels, output = _parse(equation, [x.get_shape() for x in inputs])
        for axis in sorted(set("".join(labels) + output)):
            for of_input in labels:
                if of_input.count(axis) > 1:
                    if len(labels) == 1 and of_input == of_input[::-1] and "->" not in equation:
                        return math_ops.trace(inputs[0])
                    raise ValueError(f"Subscript not supported: an axis appears more than once: {of_input}")
            if sum(axis in of_input for of_input in labels) > 2 and axis not in output:
                logging.getLogger("tensorflow").warning(
                    "einsum: index %s is summed over more than two inputs, so all axes are multiplied out.", axis)
                return _multiplied_out(equation, inputs)
        result, axes = inputs[0], labels[0]
        for other, of_other in zip(inputs[1:], labels[1:]):
            result, axes = _contract(result, axes, other, of_other, (set(axes) & set(of_other)) - set(output))
        rest = [i for i, axis in enumerate(axes) if axis not in output]
        if rest:
            result = math_ops.reduce_sum(result, axis=rest)
            axes = "".join(axis for axis in axes if axis in output)
        if sorted(axes) != sorted(output):
            raise ValueError(f"Invalid equation: {equation}")
        return _permuted(result, [axes.index(axis) for axis in output])


def _parse(equation, shapes):
    """(labels of each input, of the output), with the ellipses replaced by letters."""
    equation = equation.replace(" ", "")
    match = re.match("^([a-zA-Z,.]+)(->[a-zA-Z.]*)?$", equation)
    if not match:
        raise ValueError(f"Indices have incorrect format: {equation}")
    labels = match.group(1).split(",")
    output = match.group(2)[2:] if match.group(2) else None
    if len(shapes) != len(labels):
        raise ValueError(f'Got {len(shapes)} arguments for equation "{equation}", expecting {len(labels)}')
    ellipsis = ""
    if "..." in equation:
        free = [c for c in string.ascii_letters if c not in "".join(labels)]
        for i, (of_input, shape) in enumerate(zip(labels, shapes)):
            if "..." not in of_input:
                continue
            parts = of_input.split("...")
            if len(parts) != 2:
                raise ValueError("Unable to resolve ellipsis. Excess number found.")
            if shape.ndims is None:
                raise ValueError("Unable to statically infer ellipsis axes.")
            count = shape.ndims - len("".join(parts))
            if count < 0:
                raise ValueError("Ellipses lengths do not match.")
            if len(free) < count:
                raise ValueError("Unable to resolve ellipsis, too many distinct labels.")
            letters = "".join(free[len(free) - count:])
            labels[i] = letters.join(parts)
            if len(letters) > len(ellipsis):
                ellipsis = letters
        if output is not None:
            output = output.replace("...", ellipsis)
        if any("." in of_input for of_input in labels + [output or ""]):
            raise ValueError('period "." found outside of ellipsis')
    if output is None:
        joined = "".join(labels)
        output = ellipsis + "".join(sorted(a for a in set(joined) - set(ellipsis) if joined.count(a) == 1))
    return labels, output


def _permuted(tensor, order):
    return tensor if order == list(range(len(order))) else array_ops.transpose(tensor, perm=order)


def _reshaped(tensor, shape):
    shape = [-1 if size is None else size for size in shape]
    known = tensor.get_shape().as_list()
    if len(shape) == len(known) and all(
            not isinstance(new, ops.Tensor) and new in (old, -1) for old, new in zip(known, shape)):
        return tensor
    return array_ops.reshape(tensor, tuple(shape))


def _sizes(tensor):
    """The dimensions, as numbers where they are known and as tensors where not."""
    known = tensor.get_shape().as_list()
    if None in known:
        dynamic = array_ops.shape(tensor)
        known = [dynamic[i] if size is None else size for i, size in enumerate(known)]
    return known


def _product(sizes):
    result = 1
    for size in sizes:
        result *= size
    return result


def _contract(a, a_axes, b, b_axes, summed):
    """(the product of a and b summed over `summed`, its axes): a batched matrix product, or a broadcast one."""
    for label, tensor, axes in (("t0", a, a_axes), ("t1", b, b_axes)):
        if len(axes) != tensor.get_shape().ndims:
            raise ValueError(f"Tensor {label} of rank {tensor.get_shape().ndims} does not match einsum reduction of "
                             f"length {len(axes)}")
    kept = (set(a_axes) & set(b_axes)) - summed
    only_a, only_b = set(a_axes) - kept - summed, set(b_axes) - kept - summed
    # a: kept, its own, summed; b: kept, summed, its own
    a_order = sorted(kept) + sorted(only_a) + sorted(summed)
    b_order = sorted(kept) + sorted(summed) + sorted(only_b)
    a = _permuted(a, [a_axes.index(axis) for axis in a_order])
    b = _permuted(b, [b_axes.index(axis) for axis in b_order])
    n = len(kept)
    axes = "".join(a_order[:n + len(only_a)] + sorted(only_b))
    if not summed:
        for _ in only_b:
            a = array_ops.expand_dims(a, -1)
        for _ in only_a:
            b = array_ops.expand_dims(b, n)
        return gen.mul(a, b), axes
    a_sizes = _sizes(a)
    own, inner = _product(a_sizes[n:-len(summed)]), _product(a_sizes[-len(summed):])
    a = _reshaped(a, a_sizes[:n] + [own, inner])
    b_sizes = _sizes(b)
    own = _product(b_sizes[n + len(summed):])
    b = _reshaped(b, b_sizes[:n] + [inner, own])
    product = math_ops.matmul(a, b)
    return _reshaped(product, a_sizes[:n + len(only_a)] + b_sizes[len(b_sizes) - len(only_b):]), axes


def _multiplied_out(equation, inputs):
    """Broadcasts all inputs over all axes, multiplies, and sums at the end."""
    labels, output = _parse(equation, [x.get_shape() for x in inputs])
    axes = sorted(set("".join(labels)) - set(output)) + list(output)
    missing = set(output) - set("".join(labels))
    if missing:
        raise ValueError(f"Unknown output axes: {missing}")
    shapes = []
    for i, of_input in enumerate(labels):
        ndims = inputs[i].get_shape().ndims
        if ndims != len(of_input):
            raise ValueError(f"Input {i} with axes {of_input} has incorrect number of dimensions (expected "
                             f"{len(of_input)}, got {ndims})")
        order = sorted(of_input, key=axes.index)
        if list(of_input) != order:
            inputs[i] = array_ops.transpose(inputs[i], [of_input.index(axis) for axis in order])
        sizes = iter(inputs[i].get_shape().as_list())
        shapes.append([(next(sizes) or -1) if axis in of_input else 1 for axis in axes])
    for axis, sizes in zip(axes, zip(*shapes)):
        if len({size for size in sizes if size > 1}) > 1:
            raise ValueError(f"Dimension mismatch on axis: {axis}")
    result = 1
    for factor in [array_ops.reshape(x, shape) for x, shape in zip(inputs, shapes)]:
        result *= factor
    return math_ops.reduce_sum(result, [i for i, axis in enumerate(axes) if axis not in output])


