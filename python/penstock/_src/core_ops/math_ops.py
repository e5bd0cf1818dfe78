"""All of `math_ops`: the modules it is made of, and the functions made from op definitions."""
from penstock._src.core_ops import math_operators  # installs the operators  # noqa: F401
from penstock._src.core_ops.math_arith import *  # noqa: F401,F403
from penstock._src.core_ops.math_matmul import *  # noqa: F401,F403
from penstock._src.core_ops.math_reduce import *  # noqa: F401,F403
from penstock._src.core_ops.math_unary import *  # noqa: F401,F403
from penstock._src.core_ops.math_reduce import _ReductionDims  # noqa: F401
from penstock._src.core_ops.math_slices import _as_indexed_slices, _as_indexed_slices_list  # noqa: F401

