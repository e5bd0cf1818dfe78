"""Order between ops: group, tuple, with_dependencies, Assert, and the single ops of which conditionals are made."""
import numpy as np

from penstock._src.graph import dtypes, errors, gen, indexed_slices, ops, sparse_tensor, tensor_util
from penstock._src.base import nest

__all__ = [
    "Assert", "exit", "group", "merge", "no_op", "switch", "tuple", "tuple_v2", "with_dependencies",
    "_Identity",
]

_Tuple = tuple


def no_op(name=None):
    """An operation that does nothing; others may depend on it."""
    return gen.no_op(name=name)


def _parts(value):
    """The tensors that make up IndexedSlices or a SparseTensor, and a function that makes another of such parts."""
    if isinstance(value, indexed_slices.IndexedSlices):
        parts = [value.values, value.indices] + ([] if value.dense_shape is None else [value.dense_shape])
        return parts, lambda new: indexed_slices.IndexedSlices(*new)
    if isinstance(value, sparse_tensor.SparseTensor):
        return [value.indices, value.values, value.dense_shape], lambda new: sparse_tensor.SparseTensor(*new)
    raise TypeError(f"Type {type(value)} not supported")


def _as_value(data, dtype=None, name=None):
    """A tensor, with a reference kept as such; IndexedSlices and SparseTensors as they are."""
    if isinstance(data, (indexed_slices.IndexedSlices, sparse_tensor.SparseTensor)):
        return data
    return ops.internal_convert_to_tensor(data, dtype=dtype, name=name, as_ref=True)


def _each(function, data):
    parts, rebuild = _parts(data)
    return rebuild([function(part) for part in parts])


def _Identity(data, name=None):
    """A copy that keeps references references."""
    data = _as_value(data)
    if not isinstance(data, ops.Tensor):
        return _each(_Identity, data)
    return gen.ref_identity(data, name=name) if data.dtype._is_ref_dtype else gen.identity(data, name=name)


def exit(data, name=None):
    """Leaves a loop's frame."""
    data = _as_value(data)
    if not isinstance(data, ops.Tensor):
        return _each(exit, data)
    return gen.ref_exit(data, name=name) if data.dtype._is_ref_dtype else gen.exit(data, name=name)


def switch(data, pred, dtype=None, name=None):
    """(output_false, output_true): the data goes to the one that `pred` names, the other is dead."""
    with ops.name_scope(name, "Switch", [data, pred]) as name:
        data = _as_value(data, dtype=dtype, name="data")
        pred = ops.convert_to_tensor(pred, name="pred")
        if isinstance(data, ops.Tensor):
            return gen.switch(data, pred, name=name)
        parts, rebuild = _parts(data)
        sides = zip(*[gen.switch(part, pred) for part in parts])
        return _Tuple(rebuild(side) for side in sides)


def merge(inputs, name=None):
    """(value, index) of the input that is alive."""
    if any(value is None for value in inputs):
        raise ValueError(f"At least one of the merge inputs is None: {inputs}")
    with ops.name_scope(name, "Merge", inputs) as name:
        inputs = [_as_value(value) for value in inputs]
        if all(isinstance(value, ops.Tensor) for value in inputs):
            op = gen.ref_merge if all(value.dtype._is_ref_dtype for value in inputs) else gen.merge
            return op(inputs, name=name)
        if all(isinstance(value, (ops.Tensor, indexed_slices.IndexedSlices)) for value in inputs):
            from penstock._src.core_ops.math_slices import _as_indexed_slices_list  # built on this module
            inputs = _as_indexed_slices_list(inputs, optimize=False)
        parts, rebuilders = zip(*[_parts(value) for value in inputs])
        merged = [gen.merge(list(same)) for same in zip(*parts)]
        return rebuilders[0]([value for value, _ in merged]), merged[0][1]


def with_dependencies(dependencies, output_tensor, name=None):
    """The tensor, available only after the operations in `dependencies` have run."""
    if ops.executing_eagerly():
        return output_tensor
    with ops.name_scope(name, "control_dependency", list(dependencies) + [output_tensor]) as name:
        with ops.colocate_with(output_tensor):
            with ops.control_dependencies(dependencies):
                if isinstance(output_tensor, indexed_slices.IndexedSlices):
                    return indexed_slices.IndexedSlices(_Identity(output_tensor.values, name=name),
                                                        output_tensor.indices, output_tensor.dense_shape)
                return _Identity(ops.convert_to_tensor(output_tensor), name=name)


def _no_op_after(device, dependencies, name=None):
    with ops.control_dependencies(dependencies):
        if device is None:
            return no_op(name=name)
        with ops.device(device):
            return no_op(name=name)


def group(*inputs, **kwargs):
    """An operation that has run when all inputs have: one NoOp, and one more for each device if there are several."""
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError("Unknown keyword arguments: " + ", ".join(kwargs))
    if ops.executing_eagerly():
        return None
    with ops.name_scope(name, "group_deps", inputs) as name:
        if not inputs:
            return no_op(name=name)
        by_device = {}
        for value in nest.flatten(inputs):
            parts = [value] if hasattr(value, "device") else None
            if isinstance(value, (indexed_slices.IndexedSlices, sparse_tensor.SparseTensor)):
                parts = _parts(value)[0]
            if parts is None:
                raise TypeError(f"Expected tf.group() expected Tensor arguments not '{value}' with type "
                                f"'{type(value)}'")
            for part in parts:
                by_device.setdefault(part.device, []).append(part)
        if len(by_device) == 1:
            (device, dependencies), = by_device.items()
            return _no_op_after(device, dependencies, name=name)
        gates = [_no_op_after(device, by_device[device]) for device in sorted(by_device, key=lambda d: d or "")]
        with ops.control_dependencies(gates):
            return no_op(name=name)


def tuple(tensors, name=None, control_inputs=None):
    """The tensors, each available only after all of them (and `control_inputs`) have been computed."""
    if ops.executing_eagerly():
        return tensors
    with ops.name_scope(name, "tuple", tensors) as name:
        tensors = [t if t is None or isinstance(t, ops.Operation) or tensor_util.is_tensor(t)
                   else ops.convert_to_tensor(t) for t in tensors]
        gating = [t if isinstance(t, ops.Operation) else t.op for t in tensors if t is not None]
        for control in control_inputs or ():
            if isinstance(control, ops.Tensor):
                control = control.op
            elif not isinstance(control, ops.Operation):
                raise TypeError(f"Control input must be Operation or Tensor: {control}")
            gating.append(control)
        if not gating:
            raise ValueError(f"Must have at least one Tensor: {tensors}")
        gate = group(*sorted(set(gating), key=lambda op: op._id))
        result = []
        for t in tensors:
            if t is None:
                result.append(None)
            elif isinstance(t, ops.Operation):
                with ops.control_dependencies([gate]):
                    result.append(group(t))
            else:
                result.append(with_dependencies([gate], t))
        return result


def tuple_v2(tensors, control_inputs=None, name=None):
    """The tensors, each available only after all of them (and `control_inputs`) have been computed."""
    return tuple(tensors, name, control_inputs)


def _summary(value, most):
    """The first elements of a value as text."""
    array = np.asarray(value)
    if not array.ndim:
        return str(array)
    flat = array.ravel()
    shown = [str(x) for x in (flat if most < 0 else flat[:most])]
    return ", ".join(shown + ["..."] * (len(shown) < flat.size))


def Assert(condition, data, summarize=None, name=None):
    """An operation that fails with `data` in its message unless the condition holds."""
    if ops.executing_eagerly():
        if not condition:
            parts = "\n".join(_summary(value, 3 if summarize is None else summarize) for value in data)
            raise errors.InvalidArgumentError(
                None, None, f"Expected '{condition}' to be true. Summarized data: {parts}")
        return None
    with ops.name_scope(name, "Assert", [condition, data]) as name:
        def check():
            op = getattr(gen, "assert")  # a keyword
            return op(condition, data, summarize=3 if summarize is None else summarize, name="Assert")

        tensors = ops.convert_n_to_tensor(data)
        if all(tensor.dtype in (dtypes.string, dtypes.int32) for tensor in tensors):
            return check()
        # What is printed may lie on another device: it is brought here only if the check fails.
        from penstock._src.control_flow.cond import cond
        condition = ops.convert_to_tensor(condition, name="Condition")
        return cond(condition, no_op, check, name="AssertGuard").op




def get_enclosing_xla_context():
    """There is none: XLA's compiler is not there."""
    return None
