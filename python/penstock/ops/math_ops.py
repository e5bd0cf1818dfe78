"""All of `math_ops`: the modules it is made of, and the functions made from op definitions."""
from penstock.ops import math_operators  # installs the operators  # noqa: F401
from penstock.ops.arguments import made_function
from penstock.ops.math_arith import *  # noqa: F401,F403
from penstock.ops.math_matmul import *  # noqa: F401,F403
from penstock.ops.math_reduce import *  # noqa: F401,F403
from penstock.ops.math_unary import *  # noqa: F401,F403
from penstock.ops.math_reduce import _ReductionDims  # noqa: F401
from penstock.ops.math_slices import _as_indexed_slices, _as_indexed_slices_list  # noqa: F401

_NAMES = {  # names in `math_ops` of ops that have another name
    "mod": "floor_mod", "floormod": "floor_mod", "realdiv": "real_div",
    "truncatediv": "truncate_div", "truncatemod": "truncate_mod", "linspace": "lin_space", "nextafter": "next_after",
    "sparse_matmul": "sparse_mat_mul", "_bucketize": "bucketize",
}
_ABOVE = {"erfcinv": "erfcinv", "linspace_nd": "linspace", "sobol_sample": "sobol_sample"}
_made = made_function(__name__)


def __getattr__(name):
    if name in _ABOVE:  # they stand above this module
        from penstock.ops import math_ranges, special_math_ops
        return special_math_ops.erfcinv if name == "erfcinv" else getattr(math_ranges, _ABOVE[name])
    return _made(_NAMES.get(name, name))
