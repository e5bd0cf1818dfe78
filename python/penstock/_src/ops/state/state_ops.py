"""Functions that read and change variables of both kinds: assign, scatter_*, count_up_to.

A reference (RefVariable or its tensor) goes to the op that takes one; a resource variable to its own method.
"""
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.core_ops import array_ops


def _is_ref(ref):
    return ref.dtype._is_ref_dtype


def variable_op(shape, dtype, name="Variable", set_shape=True, container="", shared_name=""):
    """A node of the deprecated type Variable."""
    if not set_shape:
        shape = tensor_shape.unknown_shape()
    ret = gen.variable(shape=shape, dtype=dtype, name=name, container=container, shared_name=shared_name)
    if set_shape:
        ret.set_shape(shape)
    return ret


def variable_op_v2(shape, dtype, name="Variable", container="", shared_name=""):
    """A node of type VariableV2: its output is a reference to the variable's buffer."""
    return gen.variable_v2(shape=shape, dtype=dtype, name=name, container=container, shared_name=shared_name)


def init_variable(v, init, name="init"):
    """Assigns `init` (a tensor, or a function of shape and dtype) to `v` and returns the assignment."""
    with ops.name_scope(None, v.op.name + "/", [v, init]), ops.name_scope(name) as scope, ops.colocate_with(v):
        if callable(init):
            assert v.get_shape().is_fully_defined(), "Variable shape unknown."
            value = ops.convert_to_tensor(init(v.get_shape().as_list(), v.dtype.base_dtype), name="value")
        else:
            value = ops.convert_to_tensor(init, name="init")
        return gen.assign(v, value, name=scope)


def is_variable_initialized(ref, name=None):
    """A scalar bool tensor: whether `ref` has a value."""
    if _is_ref(ref):
        return gen.is_variable_initialized(ref=ref, name=name)
    return ref.is_initialized(name=name)


def assign(ref, value, validate_shape=None, use_locking=None, name=None):
    """Sets `ref` to `value`; the result holds the new value."""
    if _is_ref(ref):
        return gen.assign(ref, value, use_locking=use_locking, name=name, validate_shape=validate_shape)
    return ref.assign(value, name=name)


def assign_add(ref, value, use_locking=None, name=None):
    """Adds `value` to `ref`; the result holds the new value."""
    if _is_ref(ref):
        return gen.assign_add(ref, value, use_locking=use_locking, name=name)
    return ref.assign_add(value)


def assign_sub(ref, value, use_locking=None, name=None):
    """Subtracts `value` from `ref`; the result holds the new value."""
    if _is_ref(ref):
        return gen.assign_sub(ref, value, use_locking=use_locking, name=name)
    return ref.assign_sub(value)


def count_up_to(ref, limit, name=None):
    """The value of the integer `ref`, which then grows by one; OutOfRangeError once it has reached `limit`."""
    if _is_ref(ref):
        return gen.count_up_to(ref, limit=limit, name=name)
    return gen.resource_count_up_to(ref.handle, limit, T=ref.dtype, name=name)


def _scatter(kind, ref, indices, updates, use_locking, name):
    if _is_ref(ref):
        return getattr(gen, kind)(ref, indices, updates, use_locking=use_locking, name=name)
    updates = ops.convert_to_tensor(updates, ref.dtype)
    return ref._lazy_read(getattr(gen, "resource_" + kind)(ref.handle, indices, updates, name=name))


def scatter_update(ref, indices, updates, use_locking=True, name=None):
    """Sets the rows `indices` of `ref`; of several updates to one row any may win."""
    return _scatter("scatter_update", ref, indices, updates, use_locking, name)


def scatter_add(ref, indices, updates, use_locking=False, name=None):
    """Adds to the rows `indices` of `ref`; updates to one row add up."""
    return _scatter("scatter_add", ref, indices, updates, use_locking, name)


def scatter_sub(ref, indices, updates, use_locking=False, name=None):
    """Subtracts from the rows `indices` of `ref`; updates to one row add up."""
    return _scatter("scatter_sub", ref, indices, updates, use_locking, name)


def scatter_mul(ref, indices, updates, use_locking=False, name=None):
    """Multiplies the rows `indices` of `ref`."""
    return _scatter("scatter_mul", ref, indices, updates, use_locking, name)


def scatter_div(ref, indices, updates, use_locking=False, name=None):
    """Divides the rows `indices` of `ref`."""
    return _scatter("scatter_div", ref, indices, updates, use_locking, name)


def scatter_max(ref, indices, updates, use_locking=False, name=None):
    """Sets the rows `indices` of `ref` to the greater of what they are and the updates."""
    return _scatter("scatter_max", ref, indices, updates, use_locking, name)


def scatter_min(ref, indices, updates, use_locking=False, name=None):
    """Sets the rows `indices` of `ref` to the lesser of what they are and the updates."""
    return _scatter("scatter_min", ref, indices, updates, use_locking, name)


def scatter_nd_update(ref, indices, updates, use_locking=True, name=None):
    """Sets the positions of `ref` that the last dimension of `indices` names."""
    return _scatter("scatter_nd_update", ref, indices, updates, use_locking, name)


def scatter_nd_add(ref, indices, updates, use_locking=False, name=None):
    """Adds to the positions of `ref` that the last dimension of `indices` names."""
    return _scatter("scatter_nd_add", ref, indices, updates, use_locking, name)


def scatter_nd_sub(ref, indices, updates, use_locking=False, name=None):
    """Subtracts from the positions of `ref` that the last dimension of `indices` names."""
    return _scatter("scatter_nd_sub", ref, indices, updates, use_locking, name)


def batch_scatter_update(ref, indices, updates, use_locking=True, name=None):
    """`scatter_update` where all dimensions of `indices` but the last are batch dimensions of `ref` too."""
    with ops.name_scope(name):
        indices = ops.convert_to_tensor(indices, name="indices")
        sizes = array_ops.shape(indices)
        rank = indices.get_shape().ndims
        if rank is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        own = array_ops.expand_dims(indices, axis=-1)
        columns = []
        for dimension in range(rank - 1):
            size = sizes[dimension]
            along = [1] * (rank + 1)
            along[dimension] = size
            positions = array_ops.reshape(gen.range(0, size, 1), along)
            if positions.dtype.base_dtype != own.dtype:
                positions = gen.cast(positions, own.dtype)
            columns.append(positions * array_ops.ones_like(own))
        columns.append(own)
        return scatter_nd_update(ref, array_ops.concat(columns, axis=-1), updates, use_locking=use_locking)
