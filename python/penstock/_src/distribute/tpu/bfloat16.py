"""Variables of float32 that are used as bfloat16."""
import contextlib

from penstock._src.graph import dtypes
from penstock._src.core_ops import math_ops
from penstock._src.ops.state import variable_scope


def _getter(getter, name, shape=None, dtype=dtypes.float32, **kwargs):
    if dtype not in (dtypes.bfloat16, dtypes.float32):
        return getter(name, shape=shape, dtype=dtype, **kwargs)
    variable = getter(name, shape=shape, dtype=dtypes.float32, **kwargs)
    return math_ops.cast(variable, dtypes.bfloat16) if dtype == dtypes.bfloat16 else variable


@contextlib.contextmanager
def bfloat16_scope(name=None):
    """A variable scope whose variables are kept as float32 and given as bfloat16."""
    with variable_scope.variable_scope(name or "", custom_getter=_getter, auxiliary_name_scope=name is not None) as s:
        yield s
