"""The greatest common divisor."""
import math

from penstock._src.graph import gen, ops, tensor_util
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import while_loop as while_lib

__all__ = ["gcd"]


def gcd(a, b, name=None):
    """The greatest common divisor of two integers."""
    with ops.name_scope(name, "gcd", [a, b]):
        a, b = ops.convert_to_tensor(a), ops.convert_to_tensor(b)
        a.shape.assert_has_rank(0)
        b.shape.assert_has_rank(0)
        if not a.dtype.is_integer:
            raise ValueError(f"a must be an integer type. Got: {a.dtype}")
        if not b.dtype.is_integer:
            raise ValueError(f"b must be an integer type. Got: {b.dtype}")
        known_a, known_b = tensor_util.constant_value(a), tensor_util.constant_value(b)
        if known_a is not None and known_b is not None:
            return ops.convert_to_tensor(math.gcd(int(known_a), int(known_b)), dtype=a.dtype)
        return while_lib.while_loop(lambda _, b: gen.greater(b, array_ops.zeros_like(b)),
                                    lambda a, b: [b, gen.floor_mod(a, b)], [a, b], back_prop=False)[0]
