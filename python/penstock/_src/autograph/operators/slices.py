"""x[i] = y."""
from penstock._src.graph.tensor import Tensor


def set_item(target, key, value):
    """target[key] = value; what `target` is afterwards: of a tensor, another one."""
    if isinstance(target, Tensor):
        return _tensor_set_item(target, key, value)
    if hasattr(target, "write") and hasattr(target, "flow"):
        return target.write(key, value)
    target[key] = value
    return target


def _tensor_set_item(target, key, value):
    from penstock._src.graph import conversion, gen
    from penstock._src.core_ops import array_ops
    key = key if isinstance(key, tuple) else (key,)
    value = conversion.convert_to_tensor(value, dtype=target.dtype)
    indices = array_ops.stack([conversion.convert_to_tensor(k) for k in key])
    return gen.tensor_scatter_update(target, array_ops.expand_dims(indices, 0), array_ops.expand_dims(value, 0))
