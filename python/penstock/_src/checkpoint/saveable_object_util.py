"""Turns what a program passes to a Saver into saveable objects, in the order in which they are saved."""
from penstock._src.graph import context
from penstock._src.graph import device as pydev
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import partitioned_variable
from penstock._src.ops.state import ref_variable
from penstock._src.ops.state import resource_variable_ops
from penstock._src.ops.state import state_ops
from penstock._src.ops.state import variables
from penstock._src.ops.state import saveable_object
from penstock._src.ops.state import base as trackable

_REF_VARIABLE_OPS = frozenset(["Variable", "VariableV2", "AutoReloadVariable"])
_VARIABLE_OPS = _REF_VARIABLE_OPS | frozenset(["VarHandleOp", "ReadVariableOp"])


def set_cpu0(device_string):
    """The first CPU of the same machine: where files are read and written."""
    return pydev.DeviceSpec.from_string(device_string).replace(device_type="CPU", device_index=0).to_string()


class ReferenceVariableSaveable(saveable_object.SaveableObject):
    """A reference variable."""

    def __init__(self, var, slice_spec, name):
        super().__init__(var, [saveable_object.SaveSpec(var, slice_spec, name, dtype=var.dtype)], name)

    def restore(self, restored_tensors, restored_shapes):
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = array_ops.reshape(value, restored_shapes[0])
        return state_ops.assign(
            self.op, value, validate_shape=restored_shapes is None and self.op.get_shape().is_fully_defined())


def saveable_objects_from_trackable(obj):
    """{attribute: what is saved of an object, or a function of its name that makes it}."""
    return obj._gather_saveables_for_checkpoint()


def trackable_has_serialize_to_tensor(obj):
    """Whether an object gives its tensors at once, by `_serialize_to_tensors`."""
    given = set(obj._gather_saveables_for_checkpoint())
    return trackable.SERIALIZE_TO_TENSORS_NAME in given or isinstance(
        obj, resource_variable_ops.BaseResourceVariable)


class ResourceVariableSaveable(saveable_object.SaveableObject):
    """A resource variable, or a tensor read from one."""

    def __init__(self, var, slice_spec, name):
        # A variable of eager mode has its device from its handle, and is read on the CPU either way.
        self._var_device = var.device or ""
        self._var_shape = var.shape
        if isinstance(var, ops.Tensor) and var.op.type == "VarHandleOp":
            dtype = dtypes.as_dtype(var.op.get_attr("dtype"))
            self._var_shape = tensor_shape.TensorShape(var.op.get_attr("shape"))
            self.handle_op = var
            spec = saveable_object.SaveSpec(lambda: gen.read_variable_op(var, dtype), slice_spec, name, dtype=dtype,
                                            device=self._var_device)
            super().__init__(var, [spec], name)
            return
        if isinstance(var, ops.Tensor):
            self.handle_op = var.op.inputs[0]
            tensor = var
        elif resource_variable_ops.is_resource_variable(var):
            self.handle_op = var.handle
            tensor = _reader(var)
        else:
            raise ValueError("Saveable is neither a resource variable nor a read operation. Got: %s" % repr(var))
        spec = saveable_object.SaveSpec(tensor, slice_spec, name, dtype=var.dtype, device=self._var_device)
        super().__init__(var, [spec], name)

    def restore(self, restored_tensors, restored_shapes):
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = array_ops.reshape(value, restored_shapes[0])
        with ops.device(self._var_device):
            value = array_ops.identity(value)
            if not value.shape.is_compatible_with(self._var_shape):
                raise ValueError(f"Received incompatible tensor with shape {value.shape} when attempting to restore "
                                 f"variable with shape {self._var_shape} and name {self.name}.")
            return resource_variable_ops.shape_safe_assign_variable_handle(self.handle_op, self._var_shape, value)


def _reader(variable):

    def read():
        if context.executing_eagerly() and not variable.is_initialized():
            return None  # there is nothing to be saved
        with ops.device(variable.device):
            value = variable.read_value()
            with ops.device("/device:CPU:0"):
                return array_ops.identity(value)

    return read


def _tensor_comes_from_variable(v):
    return isinstance(v, ops.Tensor) and v.op.type in _VARIABLE_OPS


def _as_ref(op):
    return ops.internal_convert_to_tensor(op, as_ref=True)


def _saveable_class(op):
    return ReferenceVariableSaveable if op.type in _REF_VARIABLE_OPS else ResourceVariableSaveable


def saveable_objects_for_op(op, name):
    """The saveable objects of one entry of a Saver's dictionary: a variable, its tensor, slices, or a saveable."""
    if not isinstance(name, str):
        raise TypeError("names_to_saveables must be a dict mapping string names to trackable operations. Name is not a "
                        "string: %s" % name)
    if isinstance(op, saveable_object.SaveableObject):
        yield op
    elif isinstance(op, (list, tuple, partitioned_variable.PartitionedVariable)):
        slice_name = None
        for variable in op:
            if not isinstance(variable, variables.Variable):
                raise ValueError("Slices must all be Variables: %s" % variable)
            info = variable._save_slice_info
            if not info:
                raise ValueError("Slices must all be slices: %s" % variable)
            if slice_name is not None and slice_name != info.full_name:
                raise ValueError("Slices must all be from the same tensor: %s != %s" % (slice_name, info.full_name))
            slice_name = info.full_name
            yield _saveable_class(variable.op)(variable, info.spec, name)
    elif isinstance(op, resource_variable_ops.BaseResourceVariable):
        yield ResourceVariableSaveable(op if op._graph_element is None else op._graph_element, "", name)
    elif hasattr(op, "_gather_saveables_for_checkpoint") and not isinstance(op, variables.Variable):
        for attribute, factory in op._gather_saveables_for_checkpoint().items():
            full_name = name if attribute == "VARIABLE_VALUE" else name + "_" + attribute
            inner = factory(full_name) if callable(factory) else factory
            yield from saveable_objects_for_op(inner, inner.name)
    else:
        variable = _as_ref(op)
        if not _tensor_comes_from_variable(variable):
            raise TypeError("names_to_saveables must be a dict mapping string names to Tensors/Variables. Not a "
                            "variable: %s" % variable)
        yield _saveable_class(variable.op)(variable, "", name)


def op_list_to_dict(op_list, convert_variable_to_tensor=True):
    """{name in the checkpoint: what to save} for a list of variables; the slices of one variable share an entry."""
    if not isinstance(op_list, (list, tuple, set)):
        raise TypeError("Variables to save should be passed in a dict or a list: %s" % op_list)
    found = {}

    def add(name, what):
        if name in found:
            raise ValueError("At least two variables have the same name: %s" % name)
        found[name] = what

    # Sorted, so that the order of a set does not decide the order of nodes.
    for var in sorted(op_list, key=lambda v: v.name):
        if isinstance(var, saveable_object.SaveableObject):
            found[var.name] = var
        elif isinstance(var, partitioned_variable.PartitionedVariable):
            add(var.name, var)
        elif isinstance(var, variables.Variable) and getattr(var, "_save_slice_info", None):
            slices = found.setdefault(var._save_slice_info.full_name, [])
            if not isinstance(slices, list):
                raise ValueError("Mixing slices and non-slices with the same name: %s" % var._save_slice_info.full_name)
            slices.append(var)
        elif isinstance(var, variables.Variable) and (context.executing_eagerly() or getattr(
                getattr(var, "handle", None), "_is_eager", False)):  # in a function, of variables around it
            if found.setdefault(var._shared_name, var) is not var:
                raise ValueError("Two different ResourceVariable objects with the same shared_name '%s' were passed to "
                                 "the Saver. This likely means that they were created in different Graphs or isolation "
                                 "contexts, and may not be checkpointed together." % (var._shared_name,))
        elif (hasattr(var, "_gather_saveables_for_checkpoint") and
              not isinstance(var, (resource_variable_ops.BaseResourceVariable, ref_variable.RefVariable))):
            made = [f() if callable(f) else f for f in var._gather_saveables_for_checkpoint().values()]
            found.update(op_list_to_dict(made))
        else:
            if convert_variable_to_tensor:
                resource = isinstance(var, resource_variable_ops.BaseResourceVariable)
                var = var._graph_element if resource else _as_ref(var)
                if not _tensor_comes_from_variable(var):
                    raise TypeError("Variable to save is not a Variable: %s" % var)
            add(var.op.inputs[0].op.name if var.op.type == "ReadVariableOp" else var.op.name, var)
    return found


def validate_and_slice_inputs(names_to_saveables):
    """The saveable objects of a dictionary or list, ordered by name; ValueError if one is there twice."""
    if not isinstance(names_to_saveables, dict):
        names_to_saveables = op_list_to_dict(names_to_saveables)
    saveables = []
    seen = set()
    for name, op in sorted(names_to_saveables.items(), key=lambda item: item[0]):
        for saveable in saveable_objects_for_op(op, name):
            if id(saveable.op) in seen:
                raise ValueError("The same saveable will be restored with two names: %s" % saveable.name)
            seen.add(id(saveable.op))
            saveables.append(saveable)
    return saveables
