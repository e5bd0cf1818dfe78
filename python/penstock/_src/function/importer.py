"""tf.import_graph_def."""
from penstock._src.graph import conversion
from penstock._src.graph import defaults
from penstock._src.graph import device as pydev
from penstock._src.graph import errors
from penstock._src.graph import graph as graph_module
from penstock._src.base import tf2
from penstock._src.graph.tensor import Tensor
from penstock._src.base import compat


def _parse_tensor_name(name):
    """(operation, index) of a name. ValueError if it is none."""
    op, colon, index = name.partition(":")
    if colon and not index.isdigit():
        raise ValueError(f"Cannot convert {name!r} to a tensor name.")
    return op, int(index) if colon else 0


def _checked_graph_def(graph_def):
    from penstock import proto
    if isinstance(graph_def, proto.message("tensorflow.GraphDef")):
        return graph_def
    if hasattr(graph_def, "DESCRIPTOR") and graph_def.DESCRIPTOR.full_name == "tensorflow.GraphDef":
        return proto.message("tensorflow.GraphDef").FromString(graph_def.SerializeToString())
    raise TypeError(_argument("graph_def") + " must be a GraphDef proto.")


def _argument(name):
    return f"Argument `{name}`" if tf2.enabled() else name


def _without_producer_defaults(graph_def, producer_op_list):
    """A copy without attributes that our ops lack and that hold the producer's default."""
    producers = {op.name: {a.name: a for a in op.attr} for op in producer_op_list.op}
    copy = type(graph_def)()
    copy.CopyFrom(graph_def)
    for node in copy.node:
        definition = graph_module.core_op_def(node.op)
        if definition is None or node.op not in producers:
            continue
        known = {a.name for a in definition.attrs}
        for key in list(node.attr):
            theirs = producers[node.op].get(key)
            if key not in known and theirs is not None and theirs.HasField("default_value") \
                    and node.attr[key] == theirs.default_value:
                del node.attr[key]
    return copy


def _converted_input_map(name, input_map, graph):
    if input_map is None:
        return {}
    if not isinstance(input_map, dict) or not all(isinstance(k, (str, bytes)) for k in input_map):
        raise TypeError(_argument("input_map") + " must be a dictionary" + (
            f". Obtained {type(input_map).__name__}" if tf2.enabled() else " mapping strings to Tensor objects."))
    result = {compat.as_str(k): v for k, v in input_map.items()}
    if not all(isinstance(v, Tensor) or k.startswith("^") for k, v in result.items()):
        if name == "":
            raise ValueError("tf.import_graph_def() requires a non-empty `name` if `input_map` contains non-Tensor "
                             "values. Try calling tf.convert_to_tensor() on `input_map` values before calling "
                             "tf.import_graph_def().")
        with graph.name_scope("_inputs"):
            result = {k: conversion.convert_to_tensor(v) for k, v in result.items()}
    return result


def import_graph_def(graph_def, input_map=None, return_elements=None, name=None, op_dict=None, producer_op_list=None):
    """Adds the nodes and functions of a GraphDef to the default graph.

    input_map: name of a tensor in `graph_def` -> tensor of the graph that takes its place. return_elements: names of
    operations and tensors to return, as a list. name: the prefix of the new names, "import" by default; it and the
    names are made unique. ValueError: the GraphDef is not valid, or names are missing; TypeError: not a GraphDef.
    """
    return _import_graph_def_internal(graph_def, input_map, return_elements, name=name,
                                      producer_op_list=producer_op_list)


_op_defaults: dict[str, dict] = {}  # op: {attribute: its default}


def _defaults_of(op):
    """{attribute: default AttrValue} of an op, of what 1.15 knows; empty for an unknown op."""
    found = _op_defaults.get(op)
    if found is None:
        from penstock import proto
        definition = graph_module.core_op_def(op)
        attributes = proto.message("tensorflow.OpDef").FromString(definition.proto()).attr if definition else ()
        newer = definition.newer_attrs if definition else ()
        found = _op_defaults[op] = {a.name: a.default_value for a in attributes
                                    if a.HasField("default_value") and a.name not in newer}
    return found


_CALLS = frozenset(["PartitionedCall", "StatefulPartitionedCall"])


def _without_names_of_gradients(data):
    """A serialized GraphDef whose calls name no gradient functions: those are of the process that wrote it. Here the
    name may be that of another function's."""
    if b"_gradient_op_type" not in data:
        return data
    from penstock import proto
    graph_def = proto.message("tensorflow.GraphDef").FromString(data)
    for nodes in (graph_def.node, *(function.node_def for function in graph_def.library.function)):
        for node in nodes:
            if node.op in _CALLS:
                node.attr.pop("_gradient_op_type", None)
    return graph_def.SerializeToString()


def _fill_in_defaults(nodes):
    """Gives the caller's nodes the defaults of attributes that they lack: programs look at them behind an import."""
    for node in nodes:
        attributes = node.attr
        for name, value in _defaults_of(node.op).items():
            if name not in attributes:
                attributes[name].CopyFrom(value)


def import_graph_def_for_function(graph_def, name=None):
    """import_graph_def for the body of a function, whose nodes may be colocated with nodes outside of it."""
    return _import_graph_def_internal(graph_def, validate_colocation_constraints=False, name=name)


def _import_graph_def_internal(graph_def, input_map=None, return_elements=None, validate_colocation_constraints=True,
                               name=None, op_dict=None, producer_op_list=None):
    from penstock._src.graph import ops
    graph_def = given = _checked_graph_def(graph_def)
    if return_elements is not None:
        return_elements = list(return_elements)
        if not all(isinstance(x, (str, bytes)) for x in return_elements):
            raise TypeError(_argument("return_elements") + " must be a list of strings." + (
                f" Obtained {return_elements}." if tf2.enabled() else ""))
        return_elements = [compat.as_str(x) for x in return_elements]
        for element in return_elements:
            _parse_tensor_name(element)
    if producer_op_list is not None:
        graph_def = _without_producer_defaults(graph_def, producer_op_list)
    graph = defaults.get_default_graph()
    graph._check_not_finalized()
    values = list(input_map.values()) if isinstance(input_map, dict) else []
    with ops.name_scope(name, "import", values) as scope:
        input_map = _converted_input_map(name, input_map, graph)
    tensors = {k: v._key for k, v in input_map.items() if not k.startswith("^")}
    controls = {k[1:]: getattr(v, "op", v)._node for k, v in input_map.items() if k.startswith("^")}
    wanted = return_elements or []
    with graph._lock:
        try:
            incomplete, outputs, operations, unused = graph._core.import_graph_def(
                _without_names_of_gradients(graph_def.SerializeToString()), scope[:-1] if scope else "", tensors,
                controls,
                [x for x in wanted if ":" in x], [x for x in wanted if ":" not in x], None, False,
                validate_colocation_constraints, [])
        except errors.OpError as e:
            _fill_in_defaults(given.node)
            if isinstance(e, errors.InvalidArgumentError):
                raise ValueError(e.message) from None
            raise
        _fill_in_defaults(map(given.node.__getitem__, incomplete))
        _finish_new_operations(graph)
    if graph_def.library.function:
        from penstock._src.function import defun
        for found in defun.from_library(graph_def.library):
            graph._functions.setdefault(found.name, found)
    if unused:
        raise ValueError("Attempted to map inputs that were not found in graph_def: "
                         f"[{', '.join(compat.as_str(k) for k in unused)}]")
    if return_elements is None:
        return None
    outputs, operations = iter(outputs), iter(operations)
    return [graph._tensor(next(outputs)) if ":" in x else graph._ops[next(operations)] for x in wanted]


def _finish_new_operations(graph):
    """Operations for the new nodes; devices as the scopes and their colocation say. A device of its own does not count
    for an operation that is colocated with another."""
    new = graph._add_new_operations(compute_devices=False)
    colocated = graph._core.colocated_from(len(graph._ops) - len(new))
    others = set(colocated)
    for op in new:
        if op._node not in others:
            if op.device:  # in its full form, as a scope of that name would give it
                op._set_device_from_string(pydev.canonical_name(op.device))
            graph._apply_device_functions(op)
    for node in graph._core.follow_colocation(colocated):
        op = graph._ops[node]
        op._set_device(pydev.DeviceSpec.from_string(op.device))
