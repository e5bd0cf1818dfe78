"""All of `array_ops`: the modules it is made of, and the functions made from op definitions."""
from penstock._src.graph import gen
from penstock._src.graph.constant_op import constant  # noqa: F401
from penstock._src.core_ops import math_operators  # slices and shapes are computed with operators  # noqa: F401
from penstock._src.core_ops.array_blocks import *  # noqa: F401,F403
from penstock._src.core_ops.array_create import *  # noqa: F401,F403
from penstock._src.core_ops.array_join import *  # noqa: F401,F403
from penstock._src.core_ops.array_shape import *  # noqa: F401,F403
from penstock._src.core_ops.array_slice import *  # noqa: F401,F403
from penstock._src.core_ops.array_slice import _SLICE_TYPE_ERROR, _slice_helper, _SliceHelperVar  # noqa: F401



def reverse(tensor, axis, name=None):
    """Reverses the dimensions in `axis`."""
    return gen.reverse_v2(tensor, axis, name=name)


reverse_v2 = reverse
