"""Public functions that also accept ragged tensors or linear operators, and their implementations: rows that
graph/dispatch.py reads.

ROWS: {kind of values: {"module:name" of a function: its row}}. For ragged tensors a row is the kind of function
("unary", "list", "binary", "assert": see ops/ragged/ragged_dispatch.py) or the "module.name" of the function of
`ops/ragged` that takes them; for linear operators it is their method. The function made from an elementwise op's
definition needs no row: its kind follows from that (`row`).
"""
import functools

from penstock import _core
from penstock._src.graph import gen

# Kind of function -> where it is defined -> names.
_BY_ELEMENT = {
    "unary": {
        "graph.gen": """as_string bitcast check_numerics decode_base64 decode_compressed encode_base64 next_after
            stop_gradient string_lower string_strip string_to_hash_bucket_fast string_to_hash_bucket_strong
            string_upper unicode_script unicode_transcode""",
        "core_ops.math_ops": """abs angle angle_v2 bessel_i0e bessel_i1e cast conj imag log_sigmoid real
            reciprocal_no_nan round saturate_cast sigmoid sign square to_bfloat16 to_complex128 to_complex64 to_double
            to_float to_int32 to_int64""",
        "core_ops.special_math_ops": "bessel_i0 bessel_i1 erfcinv",
        "ops.image.image_color": """adjust_brightness adjust_gamma convert_image_dtype random_brightness
            stateless_random_brightness""",
        "ops.nn.nn_impl": "gelu swish",
        "core_ops.array_ops": "identity ones_like ones_like_v2 zeros_like zeros_like_v2",
        "core_ops.clip_ops": "clip_by_value",
        "ops.nn.nn_activation": "dropout dropout_v2 leaky_relu log_softmax log_softmax_v2 relu6",
        "ops.strings.string_ops": """string_to_number_v1 string_to_number string_to_hash_bucket_v1 string_to_hash_bucket
            regex_full_match regex_replace substr substr_v2 substr_deprecated string_length string_length_v2""",
    },
    "list": {"core_ops.math_ops": "add_n", "graph.gen": "string_join"},
    "binary": {
        "core_ops.math_ops": """add complex div div_no_nan divide equal floordiv logical_xor multiply multiply_no_nan
            not_equal pow scalar_mul scalar_mul_v2 subtract truediv""",
        "ops.nn.nn_impl": "sigmoid_cross_entropy_with_logits sigmoid_cross_entropy_with_logits_v2",
    },
    "assert": {
        "control_flow.check_ops": """assert_equal assert_equal_v2 assert_greater assert_greater_v2 assert_greater_equal
            assert_greater_equal_v2 assert_less assert_less_v2 assert_less_equal assert_less_equal_v2 assert_near
            assert_near_v2 assert_none_equal assert_none_equal_v2""",
    },
}
# Where a function is defined -> its name -> module and name of the function for ragged tensors.
_FUNCTIONS = {
    "core_ops.array_ops": """batch_gather=ragged_gather_ops.batch_gather concat=ragged_concat_ops.concat
        expand_dims=v1.expand_dims expand_dims_v2=ragged_array_ops.expand_dims gather=v1.gather
        gather_v2=ragged_gather_ops.gather gather_nd=v1.gather_nd gather_nd_v2=ragged_gather_ops.gather_nd
        one_hot=ragged_array_ops.ragged_one_hot rank=ragged_array_ops.rank size=v1.size size_v2=ragged_array_ops.size
        split=ragged_array_ops.split squeeze=v1.squeeze squeeze_v2=ragged_array_ops.squeeze
        stack=ragged_concat_ops.stack_v1 where=ragged_where_op.where
        where_v2=ragged_where_op.where_v2 reverse=ragged_array_ops.reverse shape=dynamic_ragged_shape.shape
        shape_v2=dynamic_ragged_shape.shape_v2 reshape=dynamic_ragged_shape.reshape fill=dynamic_ragged_shape.fill
        zeros=dynamic_ragged_shape.zeros ones=dynamic_ragged_shape.ones
        broadcast_dynamic_shape=dynamic_ragged_shape.broadcast_dynamic_shape""",
    "graph.gen": """tile=ragged_array_ops.tile broadcast_to=dynamic_ragged_shape.broadcast_to
        dynamic_partition=ragged_array_ops.dynamic_partition
        reverse_v2=ragged_array_ops.reverse
        unsorted_segment_sum=ragged_math_ops.segment_sum unsorted_segment_prod=ragged_math_ops.segment_prod
        unsorted_segment_min=ragged_math_ops.segment_min unsorted_segment_max=ragged_math_ops.segment_max""",
    "core_ops.math_ops": """unsorted_segment_mean=ragged_math_ops.segment_mean
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
    "ops.image.image_shape": """resize_images_v2=ragged_image_ops.resize_images_v2
        resize_images=ragged_image_ops.resize_images""",
    "ops.nn.nn_activation": "softmax_v2=ragged_math_ops.softmax",
    "ops.strings.string_ops": """string_format=ragged_string_ops.string_format reduce_join=v1.reduce_join
        reduce_join_v2=v1.reduce_join_v2""",
}
# Function -> the method of linear operators that is the same.
_METHODS = {
    "graph.gen:cholesky": "cholesky", "graph.gen:matrix_determinant": "determinant",
    "graph.gen:matrix_inverse": "inverse", "graph.gen:matrix_solve": "solve",
    "core_ops.array_ops:matrix_diag_part": "diag_part", "ops.linalg.linalg_ops:adjoint": "adjoint",
    "ops.linalg.linalg_ops:logdet": "log_abs_determinant", "core_ops.math_ops:matmul": "matmul",
    "core_ops.math_ops:matmul_v1": "matmul", "core_ops.math_ops:trace": "trace",
}


def _targets():
    found: dict = {}
    for kind, modules in _BY_ELEMENT.items():
        for module, names in modules.items():
            found.update((f"{module}:{name}", kind) for name in names.split())
    for module, names in _FUNCTIONS.items():
        for row in names.split():
            name, _, other = row.partition("=")
            found[f"{module}:{name}"] = other
    return found


ROWS = {"ragged": _targets(), "linear_operators": _METHODS}


@functools.cache
def _of_op(target):
    """The kind of the function of an elementwise op; None for other functions."""
    module, _, name = target.partition(":")
    op = gen.op_name(name) if module == "graph.gen" else None
    definition = None if op is None else _core.op_def(op)
    if definition is None or not definition.is_elementwise:
        return None
    if len(definition.inputs) == 1:
        return "unary"
    return "binary" if len(definition.inputs) == 2 and definition.broadcasts else None


def row(kind, target):
    """Returns the function that accepts values of a kind in place of another one, or None."""
    found = ROWS[kind].get(target)
    return _of_op(target) if found is None and kind == "ragged" else found


_OF_OPS = tuple(f"penstock._src.{name}" for name in (
    "control_flow.", "core_ops.", "graph.gen", "graph.conversion", "gradient.", "layers.rnn.", "ops.", "parallel_for."))


def is_op(function):
    """Whether this is a function of ours that works on tensors."""
    return function.__module__.startswith(_OF_OPS)
