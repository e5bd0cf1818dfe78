"""Which public functions take ragged tensors, linear operators or values of a program's own types too, and what does
their work then.

While no module of such values is loaded, there can be none: programs without them pay a look into sys.modules.
"""
import functools
import sys
import types

from penstock.util import traceback_utils

_RAGGED = "penstock.ops.ragged.ragged_tensor"
_OPERATORS = "penstock.ops.linalg.base"
# Kind of function -> where it is defined -> names.
_BY_ELEMENT = {
    "unary": {
        "framework.gen": """acos acosh asin asinh atan atanh ceil cos cosh digamma erfc exp expm1 floor is_finite is_inf
            is_nan lgamma log log1p logical_not reciprocal rint rsqrt sin sinh tan check_numerics as_string
            decode_base64 encode_base64 decode_compressed unicode_transcode string_strip string_to_hash_bucket_fast
            string_to_hash_bucket_strong string_lower string_upper unicode_script relu relu6 elu selu softplus softsign
            invert bessel_i0e bessel_i1e erf neg sign sqrt square tanh sigmoid bessel_j0 bessel_j1 bessel_k0 bessel_k0e
            bessel_k1 bessel_k1e bessel_y0 bessel_y1 dawsn erfinv expint fresnel_cos fresnel_sin ndtri next_after
            spence bitcast stop_gradient""",
        "ops.math_ops": """abs conj imag log_sigmoid real round saturate_cast sign cast angle angle_v2 reciprocal_no_nan
            to_bfloat16 to_complex128 to_complex64 to_double to_float to_int32 to_int64
            bessel_i0e bessel_i1e sigmoid square""",
        "ops.special_math_ops": "bessel_i0 bessel_i1 erfcinv",
        "ops.image_color": """adjust_brightness adjust_gamma convert_image_dtype random_brightness
            stateless_random_brightness""",
        "ops.nn_impl": "gelu swish",
        "ops.array_ops": "identity ones_like ones_like_v2 zeros_like zeros_like_v2",
        "ops.clip_ops": "clip_by_value",
        "ops.nn_ops": "dropout dropout_v2 leaky_relu log_softmax log_softmax_v2 relu6",
        "ops.string_ops": """string_to_number_v1 string_to_number string_to_hash_bucket_v1 string_to_hash_bucket
            regex_full_match regex_replace substr substr_v2 substr_deprecated string_length string_length_v2""",
    },
    "list": {"ops.math_ops": "add_n", "framework.gen": "string_join", "ops.string_ops": "string_join"},
    "binary": {
        "framework.gen": """atan2 less less_equal greater greater_equal logical_and logical_or maximum minimum
            floor_mod real_div squared_difference truncate_div truncate_mod bitwise_and bitwise_or bitwise_xor
            left_shift right_shift floor_div xdivy xlog1py xlogy zeta""",
        "ops.math_ops": """add subtract multiply divide div div_no_nan truediv floordiv equal not_equal logical_xor pow
            complex multiply_no_nan scalar_mul scalar_mul_v2""",
        "ops.nn_impl": "sigmoid_cross_entropy_with_logits sigmoid_cross_entropy_with_logits_v2",
    },
    "assert": {
        "ops.check_ops": """assert_equal assert_equal_v2 assert_greater assert_greater_v2 assert_greater_equal
            assert_greater_equal_v2 assert_less assert_less_v2 assert_less_equal assert_less_equal_v2 assert_near
            assert_near_v2 assert_none_equal assert_none_equal_v2""",
    },
}
# Where a function is defined -> its name -> module and name of the function for ragged tensors.
_FUNCTIONS = {
    "ops.array_ops": """batch_gather=ragged_gather_ops.batch_gather concat=ragged_concat_ops.concat
        expand_dims=v1.expand_dims expand_dims_v2=ragged_array_ops.expand_dims gather=v1.gather
        gather_v2=ragged_gather_ops.gather gather_nd=v1.gather_nd gather_nd_v2=ragged_gather_ops.gather_nd
        one_hot=ragged_array_ops.ragged_one_hot rank=ragged_array_ops.rank size=v1.size size_v2=ragged_array_ops.size
        split=ragged_array_ops.split squeeze=v1.squeeze squeeze_v2=ragged_array_ops.squeeze
        stack=ragged_concat_ops.stack_v1 where=ragged_where_op.where
        where_v2=ragged_where_op.where_v2 reverse=ragged_array_ops.reverse shape=dynamic_ragged_shape.shape
        shape_v2=dynamic_ragged_shape.shape_v2 reshape=dynamic_ragged_shape.reshape fill=dynamic_ragged_shape.fill
        zeros=dynamic_ragged_shape.zeros ones=dynamic_ragged_shape.ones
        broadcast_dynamic_shape=dynamic_ragged_shape.broadcast_dynamic_shape""",
    "framework.gen": """tile=ragged_array_ops.tile broadcast_to=dynamic_ragged_shape.broadcast_to
        dynamic_partition=ragged_array_ops.dynamic_partition
        reverse_v2=ragged_array_ops.reverse
        unsorted_segment_sum=ragged_math_ops.segment_sum unsorted_segment_prod=ragged_math_ops.segment_prod
        unsorted_segment_min=ragged_math_ops.segment_min unsorted_segment_max=ragged_math_ops.segment_max""",
    "ops.math_ops": """unsorted_segment_mean=ragged_math_ops.segment_mean
        unsorted_segment_sqrt_n=ragged_math_ops.segment_sqrt_n reduce_sum=ragged_math_ops.reduce_sum
        reduce_prod=ragged_math_ops.reduce_prod reduce_min=ragged_math_ops.reduce_min
        reduce_max=ragged_math_ops.reduce_max reduce_mean=ragged_math_ops.reduce_mean
        reduce_all=ragged_math_ops.reduce_all reduce_any=ragged_math_ops.reduce_any
        reduce_variance=ragged_math_ops.reduce_variance reduce_std=ragged_math_ops.reduce_std
        reduce_logsumexp=ragged_math_ops.reduce_logsumexp reduce_logsumexp_v1=v1.reduce_logsumexp
        reduce_sum_v1=v1.reduce_sum reduce_prod_v1=v1.reduce_prod reduce_min_v1=v1.reduce_min
        reduce_max_v1=v1.reduce_max reduce_mean_v1=v1.reduce_mean reduce_all_v1=v1.reduce_all
        reduce_any_v1=v1.reduce_any cumsum=ragged_math_ops.ragged_cumsum
        matmul=ragged_math_ops.matmul matmul_v1=ragged_math_ops.matmul""",
    "ops.image_shape": """resize_images_v2=ragged_image_ops.resize_images_v2
        resize_images=ragged_image_ops.resize_images""",
    "ops.nn_ops": "softmax_v2=ragged_math_ops.softmax",
    "ops.string_ops": """string_format=ragged_string_ops.string_format reduce_join=v1.reduce_join
        reduce_join_v2=v1.reduce_join_v2""",
}
# Function -> the method of linear operators that is the same.
_METHODS = {
    "framework.gen:cholesky": "cholesky", "framework.gen:matrix_determinant": "determinant",
    "framework.gen:matrix_inverse": "inverse", "framework.gen:matrix_solve": "solve",
    "ops.array_ops:matrix_diag_part": "diag_part", "ops.linalg_ops:adjoint": "adjoint",
    "ops.linalg_ops:logdet": "log_abs_determinant", "ops.math_ops:matmul": "matmul",
    "ops.math_ops:matmul_v1": "matmul", "ops.math_ops:trace": "trace",
}


def _targets():
    found = {}
    for kind, modules in _BY_ELEMENT.items():
        for module, names in modules.items():
            found.update((f"{module}:{name}", kind) for name in names.split())
    for module, names in _FUNCTIONS.items():
        for row in names.split():
            name, _, other = row.partition("=")
            found[f"{module}:{name}"] = other
    return found


_TARGETS = _targets()
_looking = {}  # target, function -> what is public


by_type = None  # what looks among the functions that a program registered for its types (framework/type_dispatch.py)
refused = None  # what asks the dispatchers of libraries where a function refuses its arguments (util/dispatch.py)


def handle(target, function, args, /, **kwargs):
    """What `function` gives if there are values among these arguments that are no tensors; NotImplemented if there are
    none, or nothing takes them for `target` ("module:name")."""
    kind, result = _TARGETS.get(target), NotImplemented
    if by_type is not None:
        result = by_type(kind, function, args, kwargs)
    if result is NotImplemented and kind is not None and _RAGGED in sys.modules:
        from penstock.ops.ragged import ragged_dispatch
        result = ragged_dispatch.call(kind, function, args, kwargs)
    if result is NotImplemented and _OPERATORS in sys.modules and target in _METHODS:
        from penstock.ops.linalg import operator_dispatch
        result = operator_dispatch.call(_METHODS[target], args, kwargs)
    return result


def dispatched(target, function):
    """The public function behind `target`, for other values too if there is a row for it, and then always the same one;
    the functions that are made from ops' definitions call `handle` themselves."""
    if refused is None or not _is_op(function):
        if target not in _TARGETS and target not in _METHODS or target.startswith("framework.gen:"):
            return function
    if (target, function) not in _looking:
        _looking[target, function] = looking(target, function)
    return _looking[target, function]


def _is_op(value):
    """Whether this is a function of ours that works on tensors and does not take others already."""
    if not isinstance(value, types.FunctionType) or hasattr(value, "__wrapped__"):
        return False
    return value.__module__.startswith(("penstock.ops.", "penstock.framework.gen", "penstock.framework.conversion"))


def undispatched(function):
    """The function that a public one has behind it; others are their own."""
    behind = getattr(function, "__wrapped__", None)
    return behind if any(public is function for public in _looking.values()) else function


def public(target, function):
    """What is public of a function that a program found as `target`, which may be in another module than its row is."""
    home = f"{function.__module__.partition('.')[2]}:{function.__name__}"
    return dispatched(target if target in _TARGETS or target in _METHODS else home, function)


def public_of(name):
    """The public function of version 2 of that name."""
    import operator
    from penstock import v2
    return operator.attrgetter(name)(v2)


def of_borrowed(name, *args):
    """What an operator of Tensor gives for a value of a class that has taken it over: what the public function of that
    name does, which asks the dispatchers of libraries."""
    return public_of(name)(*args)


def looks(function):
    """Whether a function calls `handle` itself."""
    return function.__module__ == "penstock.framework.gen"


def looking(target, function):
    """A function that takes other values too."""
    import inspect  # not when the package is imported: that would take twice as long

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            if by_type is not None or _RAGGED in sys.modules or _OPERATORS in sys.modules:
                result = handle(target, function, args, **kwargs)
                if result is not NotImplemented:
                    return result
            return function(*args, **kwargs)
        except Exception as e:
            if refused is not None:
                result = refused(call, args, kwargs, e)
                if result is not NotImplemented:
                    return result
            from penstock.framework import tf2  # which loads the runtime; this module is there before
            if tf2.enabled():
                raise traceback_utils.filtered(e)
            raise

    # Read by inspect.getfullargspec, which does not look below wrappers.
    call.__signature__ = inspect.signature(function)
    return call
