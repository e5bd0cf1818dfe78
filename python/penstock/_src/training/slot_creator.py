"""Makes slots: variables that go with another variable, named below it and colocated with it."""
import contextlib

from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import init_ops
from penstock._src.ops.state import ref_variable
from penstock._src.ops.state import resource_variable_ops
from penstock._src.ops.state import variable_scope
from penstock._src.ops.state import variables


def _name_of(primary):
    return primary._shared_name if ops.executing_eagerly() else primary.op.name


def _create_slot_var(primary, val, scope, validate_shape, shape, dtype):
    # A slot is as large as its variable, which may be a slice already: partitioners must not cut it again.
    current = variable_scope.get_variable_scope()
    partitioner = current.partitioner
    current.set_partitioner(None)
    try:
        if resource_variable_ops.is_resource_variable(primary):
            use_resource = True
        else:
            use_resource = False if isinstance(primary, ref_variable.RefVariable) else None
        slot = variable_scope.get_variable(
            scope, initializer=val, trainable=False, use_resource=use_resource,
            shape=shape if callable(val) else None, dtype=dtype, validate_shape=validate_shape)
    finally:
        current.set_partitioner(partitioner)
    if isinstance(primary, variables.Variable) and primary._save_slice_info:
        # The slot of a slice is saved as the same slice of a slot of the whole.
        name = slot.name[len(_name_of(primary) + "/"):-len(":0")]
        info = primary._save_slice_info
        slot._set_save_slice_info(variables.Variable.SaveSliceInfo(
            info.full_name + "/" + name, info.full_shape[:], info.var_offset[:], info.var_shape[:]))
    return slot


def _made(primary, val, name, shape, dtype, validate_shape, colocate_with_primary):
    where = ops.colocate_with(primary) if colocate_with_primary else contextlib.nullcontext()
    with variable_scope.variable_scope(None, _name_of(primary) + "/" + name), where:
        return _create_slot_var(primary, val, "", validate_shape, shape, dtype)


def create_slot(primary, val, name, colocate_with_primary=True):
    """A slot of the variable or tensor `primary` with the initial value `val`, a tensor."""
    return _made(primary, val, name, None, None, val.get_shape().is_fully_defined(), colocate_with_primary)


def create_slot_with_initializer(primary, initializer, shape, dtype, name, colocate_with_primary=True):
    """A slot of that shape and type, made by `initializer`."""
    return _made(primary, initializer, name, shape, dtype, shape.is_fully_defined(), colocate_with_primary)


def create_zeros_slot(primary, name, dtype=None, colocate_with_primary=True):
    """A slot of zeros, as large as `primary`."""
    if dtype is None:
        dtype = primary.dtype
    shape = primary.get_shape()
    if shape.is_fully_defined():
        return create_slot_with_initializer(primary, init_ops.zeros_initializer(), shape, dtype, name,
                                            colocate_with_primary=colocate_with_primary)
    value = primary.initialized_value() if isinstance(primary, variables.Variable) else primary
    zeros = array_ops.zeros(array_ops.shape(value), dtype=dtype)
    return create_slot(primary, zeros, name, colocate_with_primary=colocate_with_primary)
