"""tf.xla.experimental.compile: what a function builds, built as ever, since XLA's compiler is not there."""
from penstock._src.graph import ops
from penstock._src.graph.conversion import executing_eagerly
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.state import variable_scope
from penstock._src.base import nest


def compile(computation, inputs=None):
    """The results of `computation(*inputs)`, in whose scope variables are resource variables.

    inputs: a list of values, which may be nested, that become tensors. A list of tensors comes back for a single tensor
    or a list, which may end with operations that are run whenever one of the tensors is; a no-op that depends on the
    operations if there are no tensors; a nested structure as it is. TypeError if `inputs` is no list, ValueError for
    results that are neither, or operations before a tensor or in a nested structure.
    """
    if inputs is not None and not isinstance(inputs, (list, tuple)):
        raise TypeError("inputs must be a list")
    inputs = [nest.map_structure(lambda x: array_ops.identity(ops.convert_to_tensor(x)), x) for x in inputs or ()]
    if executing_eagerly():
        return computation(*inputs)
    scope = variable_scope.get_variable_scope()
    use_resource = scope.use_resource
    scope.set_use_resource(True)
    try:
        outputs = computation(*inputs)
    finally:
        scope.set_use_resource(use_resource)
    if _is_flat(outputs):
        return _flat_outputs(outputs)
    if any(isinstance(x, ops.Operation) for x in nest.flatten(outputs)):
        raise ValueError("xla.compile does not support Operation as return value in non-flat output structure.")
    return nest.map_structure(_to_tensor, outputs)


def _is_flat(outputs):
    nested = (list, tuple, dict)
    return not isinstance(outputs, nested) or \
        not isinstance(outputs, dict) and not any(isinstance(x, nested) for x in outputs)


def _flat_outputs(outputs):
    outputs = [] if outputs is None else list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    outputs = [x if isinstance(x, ops.Operation) else _to_tensor(x) for x in outputs]
    operations = [x for x in outputs if isinstance(x, ops.Operation)]
    tensors = [x for x in outputs if not isinstance(x, ops.Operation)]
    if outputs != [*tensors, *operations]:
        raise ValueError("XLA computation function must return zero or more Tensor values followed by zero or more "
                         "Operations.")
    if not tensors:
        return control_flow_ops.group(*operations, name="output_0")
    with ops.control_dependencies(operations):
        return [array_ops.identity(x, name="output_%d" % i) for i, x in enumerate(tensors)]


def _to_tensor(value):
    try:
        return ops.convert_to_tensor(value)
    except (TypeError, ValueError) as e:
        raise ValueError("XLA computation function return values must all either be Operations or convertible to "
                         "Tensors. Got error: \"%s\"" % e) from e
