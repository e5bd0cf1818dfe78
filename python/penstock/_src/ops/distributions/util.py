"""What distributions share: logits or probabilities, checks of values as the graph runs, seeds."""
import hashlib
import inspect

import numpy as np

from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.graph import tensor_util
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.control_flow import cond as cond_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_activation


def nan(shape, dtype):
    """A tensor of NaN."""
    return array_ops.fill(shape, np.array(np.nan, dtype=dtype.as_numpy_dtype), name="nan")


def gen_new_seed(seed, salt):
    """Another seed made of one and a word; None of None."""
    if seed is None:
        return None
    return int(hashlib.md5((str(seed) + salt).encode("utf-8")).hexdigest()[:8], 16) & 0x7FFFFFFF


def maybe_get_static_value(x, dtype=None):
    """The value of x as an array if it is known, else None."""
    if x is None:
        return None
    try:
        value = tensor_util.constant_value(x)
    except TypeError:
        value = x
    return value if value is None or dtype is None else np.array(value, dtype)


def prefer_static_value(x):
    """The value of x if it is known, else x."""
    value = tensor_util.constant_value(x)
    return x if value is None else value


def prefer_static_rank(x):
    """The number of axes: an array if it is known, else a tensor."""
    return prefer_static_value(array_ops.rank(x))


def prefer_static_shape(x):
    """The shape: an array if it is known, else a tensor."""
    return prefer_static_value(array_ops.shape(x))


def prefer_static_broadcast_shape(shape1, shape2, name="prefer_static_broadcast_shape"):
    """The shape of two broadcast together: a TensorShape if both are known, else a tensor."""
    with ops.name_scope(name, values=[shape1, shape2]):
        known, tensors = [], []
        for shape in (shape1, shape2):
            if isinstance(shape, tensor_shape.TensorShape):
                if not shape.is_fully_defined():
                    raise ValueError("Cannot broadcast from partially defined `TensorShape`.")
                shape = shape.as_list()
            tensors.append(ops.convert_to_tensor(shape, name="shape", dtype=dtypes.int32))
            known.append(tensor_util.constant_value(tensors[-1]))
        if any(value is None for value in known):
            return array_ops.broadcast_dynamic_shape(*tensors)
        return array_ops.broadcast_static_shape(*map(tensor_shape.TensorShape, known))


def parent_frame_arguments():
    """The arguments of the function that calls this, by name; those of `**kwargs` among them, `*args` not."""
    names, _, keywords, values = inspect.getargvalues(inspect.currentframe().f_back)
    return {**{name: values[name] for name in names}, **(values[keywords] if keywords else {})}


def assert_integer_form(x, data=None, summarize=None, message=None, int_dtype=None, name="assert_integer_form"):
    """An op that fails (InvalidArgumentError) where x has a fraction. TypeError for types that cannot be cast."""
    with ops.name_scope(name, values=[x, data]):
        x = ops.convert_to_tensor(x, name="x")
        if x.dtype.is_integer:
            return control_flow_ops.no_op()
        if int_dtype is None:
            int_dtype = {dtypes.float16: dtypes.int16, dtypes.float32: dtypes.int32,
                         dtypes.float64: dtypes.int64}.get(x.dtype.base_dtype)
            if int_dtype is None:
                raise TypeError("Unrecognized type %s" % x.dtype.name)
        return check_ops.assert_equal(x, math_ops.cast(math_ops.cast(x, int_dtype), x.dtype), data=data,
                                      summarize=summarize, name=name,
                                      message=message or "%s has non-integer components" % x)


def assert_symmetric(matrix):
    """The matrix, which is checked to be its own transpose."""
    return control_flow_ops.with_dependencies(
        [check_ops.assert_equal(matrix, array_ops.matrix_transpose(matrix))], matrix)


def embed_check_nonnegative_integer_form(x, name="embed_check_nonnegative_integer_form"):
    """x, which is checked to consist of whole numbers from 0."""
    with ops.name_scope(name, values=[x]):
        x = ops.convert_to_tensor(x, name="x")
        checks = [check_ops.assert_non_negative(x, message="'%s' must be non-negative." % x)]
        if not x.dtype.is_integer:
            checks.append(assert_integer_form(x, message="'%s' cannot contain fractional components." % x))
        return control_flow_ops.with_dependencies(checks, x)


def same_dynamic_shape(a, b):
    """A bool tensor: whether the shapes are the same."""
    a, b = ops.convert_to_tensor(a, name="a"), ops.convert_to_tensor(b, name="b")

    def all_equal():
        shapes = [array_ops.shape(a), array_ops.shape(b)]
        return math_ops.reduce_all(math_ops.equal(array_ops.concat(shapes, 0), array_ops.concat(shapes[::-1], 0)))

    return cond_ops.cond(math_ops.equal(array_ops.rank(a), array_ops.rank(b)), all_equal,
                         lambda: constant_op.constant(False))


def get_logits_and_probs(logits=None, probs=None, multidimensional=False, validate_args=False,
                         name="get_logits_and_probs", dtype=None):
    """(logits, probs), of which one is given: classes along the last axis if `multidimensional`, else of one event.

    ValueError unless exactly one is given, TypeError if it is not of a floating type.
    """
    with ops.name_scope(name, values=[probs, logits]):
        if (probs is None) == (logits is None):
            raise ValueError("Must pass probs or logits, but not both.")
        if probs is None:
            logits = ops.convert_to_tensor(logits, name="logits", dtype=dtype)
            if not logits.dtype.is_floating:
                raise TypeError("logits must having floating type.")
            if not multidimensional:
                return logits, math_ops.sigmoid(logits, name="probs")
            if validate_args:
                logits = embed_check_categorical_event_shape(logits)
            return logits, nn_activation.softmax(logits, name="probs")
        probs = ops.convert_to_tensor(probs, name="probs", dtype=dtype)
        if not probs.dtype.is_floating:
            raise TypeError("probs must having floating type.")
        if validate_args:
            probs = _checked_probs(probs, multidimensional)
        with ops.name_scope("logits"):
            if multidimensional:
                return gen.log(probs), probs
            return gen.log(probs) - gen.log1p(-1. * probs), probs


def _checked_probs(probs, multidimensional):
    with ops.name_scope("validate_probs"):
        one = constant_op.constant(1., probs.dtype)
        checks = [check_ops.assert_non_negative(probs)]
        if multidimensional:
            probs = embed_check_categorical_event_shape(probs)
            checks.append(check_ops.assert_near(math_ops.reduce_sum(probs, -1), one,
                                                message="probs does not sum to 1."))
        else:
            checks.append(check_ops.assert_less_equal(probs, one, message="probs has components greater than 1."))
        return control_flow_ops.with_dependencies(checks, probs)


def _integers(dtype):
    """The smallest and the largest whole number from 0 on that a type holds exactly with all below it."""
    dtype = dtype.base_dtype
    if dtype in (dtypes.float16, dtypes.float32, dtypes.float64):
        largest = 2 ** (np.finfo(dtype.as_numpy_dtype).nmant + 1)
    elif dtype == dtypes.bool:
        largest = 1
    elif dtype in (dtypes.uint8, dtypes.uint16, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64):
        largest = int(np.iinfo(dtype.as_numpy_dtype).max)
    else:
        raise TypeError("Unrecognized dtype: %s" % dtype.name)
    return 0 if dtype in (dtypes.bool, dtypes.uint8, dtypes.uint16) else -largest, largest


def embed_check_categorical_event_shape(categorical_param, name="embed_check_categorical_event_shape"):
    """The parameter, checked to have from 2 classes up to as many as its type can count.

    ValueError, or InvalidArgumentError if the number is not known before the graph runs.
    """
    with ops.name_scope(name, values=[categorical_param]):
        x = ops.convert_to_tensor(categorical_param, name="categorical_param")
        dtype = x.dtype.base_dtype
        if not dtype.is_floating:
            raise TypeError("Unable to validate size of unrecognized dtype (%s)." % dtype.name)
        most = _integers(dtype)[1]
        if x.shape.ndims == 0:
            raise ValueError("A categorical-distribution parameter must have at least 1 dimension.")
        classes = tensor_shape.dimension_value(x.shape.with_rank_at_least(1)[-1])
        if classes is not None:
            if classes < 2:
                raise ValueError("A categorical-distribution parameter must have at least 2 events.")
            if classes > most:
                raise ValueError("Number of classes exceeds `dtype` precision, i.e., %s implies shape (%d) cannot "
                                 "exceed %d." % (dtype.name, classes, most))
            return x
        classes = array_ops.shape(x, name="x_shape")[-1]
        return control_flow_ops.with_dependencies([
            check_ops.assert_rank_at_least(
                x, 1, message="A categorical-distribution parameter must have at least 1 dimension."),
            check_ops.assert_greater_equal(
                array_ops.shape(x)[-1], 2,
                message="A categorical-distribution parameter must have at least 2 events."),
            check_ops.assert_less_equal(
                classes, most, message="Number of classes exceeds `dtype` precision, i.e., %s dtype cannot exceed %d "
                "shape." % (dtype.name, most)),
        ], x)


def embed_check_integer_casting_closed(x, target_dtype, assert_nonnegative=True, name="embed_check_casting_closed"):
    """x, checked to keep its values when it is cast to `target_dtype`; one of the two types counts in whole numbers.

    TypeError if neither does.
    """
    with ops.name_scope(name, values=[x]):
        x = ops.convert_to_tensor(x, name="x")
        whole = [d.is_integer or d.base_dtype == dtypes.bool for d in (x.dtype, target_dtype)]
        for what, dtype, is_whole in (("%s.dtype" % x.dtype.name, x.dtype, whole[0]),
                                      ("target_dtype (%s)" % target_dtype.name, target_dtype, whole[1])):
            if not is_whole and not dtype.is_floating:
                raise TypeError("%s must be floating- or integer-type." % what)
        if not any(whole):
            raise TypeError("At least one of %s.dtype (%s) and target_dtype (%s) must be integer-type." %
                            (x, x.dtype.name, target_dtype.name))
        (x_least, x_most), (least, most) = _integers(x.dtype), _integers(target_dtype)
        checks = []
        if assert_nonnegative:
            checks.append(check_ops.assert_non_negative(x, message="Elements must be non-negative."))
        if x.dtype.is_floating:
            checks.append(assert_integer_form(x, int_dtype=target_dtype,
                                              message="Elements must be %s-equivalent." % target_dtype.name))
        else:
            if x_most > most:
                checks.append(check_ops.assert_less_equal(x, most, message="Elements cannot exceed %d." % most))
            if not assert_nonnegative and x_least < least:
                checks.append(check_ops.assert_greater_equal(
                    x, least, message="Elements cannot be smaller than %d." % least))
        return control_flow_ops.with_dependencies(checks, x) if checks else x


def log_combinations(n, counts, name="log_combinations"):
    """log(n! / prod(counts!)), the counts along the last axis."""
    with ops.name_scope(name, values=[n, counts]):
        n, counts = ops.convert_to_tensor(n, name="n"), ops.convert_to_tensor(counts, name="counts")
        return gen.lgamma(n + 1) - math_ops.reduce_sum(gen.lgamma(counts + 1), axis=[-1])


def matrix_diag_transform(matrix, transform=None, name=None):
    """The matrix with its diagonal put through a function."""
    with ops.name_scope(name, "matrix_diag_transform", [matrix]):
        matrix = ops.convert_to_tensor(matrix, name="matrix")
        if transform is None:
            return matrix
        return array_ops.matrix_set_diag(matrix, transform(array_ops.matrix_diag_part(matrix)))


def rotate_transpose(x, shift, name="rotate_transpose"):
    """x with its axes moved round by `shift` places to the right."""
    with ops.name_scope(name, values=[x, shift]):
        x, shift = ops.convert_to_tensor(x, name="x"), ops.convert_to_tensor(shift, name="shift")
        check_ops.assert_integer(shift)
        known, ndims = tensor_util.constant_value(shift), x.shape.ndims
        if ndims is not None and known is not None:
            if ndims < 2 or known % ndims == 0:
                return x
            return array_ops.transpose(x, perm=np.roll(np.arange(ndims), known))
        ndims = array_ops.rank(x)
        start = gen.floor_mod(-shift, ndims)
        return array_ops.transpose(x, perm=array_ops.concat(
            [math_ops.range(start, ndims), math_ops.range(0, start)], 0))


def pick_vector(cond, true_vector, false_vector, name="pick_vector"):
    """One of two vectors, of any lengths. TypeError if the condition is not bool or their types differ."""
    with ops.name_scope(name, values=(cond, true_vector, false_vector)):
        cond = ops.convert_to_tensor(cond, name="cond")
        if cond.dtype != dtypes.bool:
            raise TypeError("%s.dtype=%s which is not %s" % (cond, cond.dtype, dtypes.bool))
        known = tensor_util.constant_value(cond)
        if known is not None:
            return true_vector if known else false_vector
        true_vector = ops.convert_to_tensor(true_vector, name="true_vector")
        false_vector = ops.convert_to_tensor(false_vector, name="false_vector")
        if true_vector.dtype != false_vector.dtype:
            raise TypeError("%s.dtype=%s does not match %s.dtype=%s" %
                            (true_vector, true_vector.dtype, false_vector, false_vector.dtype))
        n = array_ops.shape(true_vector)[0]
        return array_ops.slice(array_ops.concat([true_vector, false_vector], 0),
                               [array_ops.where_v2(cond, 0, n)], [array_ops.where_v2(cond, n, -1)])


def fill_triangular(x, upper=False, name=None):
    """Triangular matrices [..., n, n] of vectors [..., n (n + 1) / 2], filled in a clockwise spiral.

    ValueError if there is no n for the length.
    """
    with ops.name_scope(name, "fill_triangular", values=[x]):
        x = ops.convert_to_tensor(x, name="x")
        m = tensor_shape.dimension_value(x.shape.with_rank_at_least(1)[-1])
        if m is not None:
            n = int(np.sqrt(0.25 + 2. * m) - 0.5)
            if n * (n + 1) // 2 != m:
                raise ValueError("Input right-most shape (%d) does not correspond to a triangular matrix." % m)
            known = x.shape[:-1].concatenate([n, n])
        else:
            n = math_ops.cast(math_ops.sqrt(0.25 + math_ops.cast(2 * array_ops.shape(x)[-1], dtypes.float32)),
                              dtypes.int32)
            known = x.shape.with_rank_at_least(1)[:-1].concatenate([None, None])
        pieces = [x, array_ops.reverse(x[..., n:], axis=[-1])] if upper else [
            x[..., n:], array_ops.reverse(x, axis=[-1])]
        shape = (known.as_list() if known.is_fully_defined() else
                 array_ops.concat([array_ops.shape(x)[:-1], [n, n]], axis=0))
        x = gen.matrix_band_part(array_ops.reshape(array_ops.concat(pieces, axis=-1), shape),
                                 0 if upper else -1, -1 if upper else 0)
        x.set_shape(known)
        return x


def fill_triangular_inverse(x, upper=False, name=None):
    """The vectors [..., n (n + 1) / 2] of which fill_triangular makes these matrices [..., n, n]."""
    with ops.name_scope(name, "fill_triangular_inverse", values=[x]):
        x = ops.convert_to_tensor(x, name="x")
        n = tensor_shape.dimension_value(x.shape.with_rank_at_least(2)[-1])
        known = x.shape[:-2].concatenate([None if n is None else n * (n + 1) // 2])
        if n is None:
            n = array_ops.shape(x)[-1]
        first, rest = (x[..., 0, :], x[..., 1:, :]) if upper else (
            array_ops.reverse(x[..., -1, :], axis=[-1]), x[..., :-1, :])
        rest = rest + array_ops.reverse(rest, axis=[-1, -2])
        rest = array_ops.reshape(rest, array_ops.concat([array_ops.shape(x)[:-2], [n * (n - 1)]], axis=0))
        y = array_ops.concat([first, rest[..., :n * (n - 1) // 2]], axis=-1)
        y.set_shape(known)
        return y


def reduce_weighted_logsumexp(logx, w=None, axis=None, keep_dims=False, return_sign=False, name=None):
    """log(abs(sum(w * exp(logx)))) without overflow, and the sum's sign if asked for."""
    with ops.name_scope(name, "reduce_weighted_logsumexp", [logx, w]):
        logx = ops.convert_to_tensor(logx, name="logx")
        if w is None:
            result = math_ops.reduce_logsumexp(logx, axis=axis, keepdims=keep_dims)
            return (result, array_ops.ones_like(result)) if return_sign else result
        w = ops.convert_to_tensor(w, dtype=logx.dtype, name="w")
        terms = logx + gen.log(math_ops.abs(w))
        largest = math_ops.reduce_max(terms, axis=axis, keepdims=True)
        largest = array_ops.where_v2(gen.is_inf(largest), array_ops.zeros_like(largest), largest)
        total = math_ops.reduce_sum(math_ops.sign(w) * gen.exp(terms - largest), axis=axis, keepdims=keep_dims)
        sign = math_ops.sign(total)
        result = (largest if keep_dims else array_ops.squeeze(largest, axis)) + gen.log(sign * total)
        return (result, sign) if return_sign else result


def softplus_inverse(x, name=None):
    """The y for which softplus(y) is x: log(exp(x) - 1), by its limits where that loses digits."""
    with ops.name_scope(name, "softplus_inverse", values=[x]):
        x = ops.convert_to_tensor(x, name="x")
        threshold = np.log(np.finfo(x.dtype.as_numpy_dtype).eps) + 2.
        small, large = gen.less(x, np.exp(threshold)), gen.greater(x, -threshold)
        safe = array_ops.where_v2(gen.logical_or(small, large), array_ops.ones_like(x), x)
        between = safe + gen.log(-gen.expm1(-safe))
        return array_ops.where_v2(small, gen.log(x), array_ops.where_v2(large, x, between))
