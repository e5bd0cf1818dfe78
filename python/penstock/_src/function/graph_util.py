"""tf.graph_util: work on GraphDef messages."""
import re

from penstock._src.graph import dtypes
from penstock._src.function import frozen_functions
from penstock._src.graph import tensor_util
from penstock._src.graph.operation import Operation
from penstock._src.graph.tensor_shape import TensorShape

_VARIABLE_OPS = {"Assign", "AssignAdd", "AssignSub", "Queue", "ScatterAdd", "ScatterSub", "ScatterUpdate",
                 "TruncatedNormal", "Variable", "VariableV2"}
_PASSING_ON = {"Switch", "Enter", "Exit", "Identity", "Merge", "NextIteration"}


def _graph_def_class():
    from penstock import proto
    return proto.message("tensorflow.GraphDef")


def must_run_on_cpu(node, pin_variables_on_cpu=False):
    """Whether a node has no kernel elsewhere: strings and the integers that describe shapes."""
    node = node.node_def if isinstance(node, Operation) else node
    if pin_variables_on_cpu and node.op in _VARIABLE_OPS:
        return True
    number = {"Const": "dtype", "DynamicStitch": "T", "ParallelDynamicStitch": "T", "Cast": "SrcT"}.get(node.op)
    if number is None:
        return False
    dtype = node.attr[number].type
    return dtype == dtypes.int32 or node.op == "Const" and dtype == dtypes.string


def _node_name(text):
    """The node in an input such as "^a" or "a:1"."""
    return text[1:] if text.startswith("^") else text.partition(":")[0]


def extract_sub_graph(graph_def, dest_nodes):
    """The part of a GraphDef that `dest_nodes` (names) depend on. TypeError, AssertionError: bad arguments."""
    if not hasattr(graph_def, "DESCRIPTOR") or graph_def.DESCRIPTOR.full_name != "tensorflow.GraphDef":
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    if isinstance(dest_nodes, str):
        raise TypeError(f"dest_nodes must be a list. In other words, it must be an iterable of names; got "
                        f"{dest_nodes!r}.")
    nodes = {node.name: node for node in graph_def.node}
    for name in dest_nodes:
        assert name in nodes, f"{name} is not in graph"
    keep, todo = set(), list(dest_nodes)
    while todo:
        name = todo.pop()
        if name in keep:
            continue
        keep.add(name)
        if name in nodes:
            todo.extend(_node_name(i) for i in nodes[name].input)
            if "_class" in nodes[name].attr:
                todo.extend(g.decode()[5:] for g in nodes[name].attr["_class"].list.s if g.startswith(b"loc:@"))
    result = _graph_def_class()()
    for node in graph_def.node:
        if node.name in keep:
            result.node.add().CopyFrom(node)
    result.library.CopyFrom(graph_def.library)
    result.versions.CopyFrom(graph_def.versions)
    return result


def tensor_shape_from_node_def_name(graph, input_name):
    """The static shape of a tensor by the name in a NodeDef's input."""
    return graph.get_tensor_by_name(input_name if ":" in input_name else input_name + ":0").get_shape()


def _set_constant(node, name, dtype, data, shape=None):
    node.op = "Const"
    node.name = name
    node.attr["dtype"].CopyFrom(dtype)
    node.attr["value"].tensor.CopyFrom(tensor_util.make_tensor_proto(data, dtype=dtype.type, shape=shape))


def _reads(nodes, variables):
    """(names of the nodes that read some variables by their handles, {name: type attribute} of what lies between)."""
    reads, found = set(), {}
    for node in nodes.values():
        if node.op not in ("ReadVariableOp", "ResourceGather"):
            continue
        todo, between, read = [_node_name(node.input[0])], {}, set()
        while todo:
            source = nodes[todo.pop()]
            if source.op not in _PASSING_ON:
                if source.op != "VarHandleOp":
                    raise ValueError("Cannot find the variable that is an input to the ReadVariableOp.")
                read.add(source.name)
            elif source.name not in between:
                between[source.name] = node.attr["dtype"]
                todo.extend(_node_name(i) for i in (source.input[:2] if source.op == "Merge" else source.input[:1]))
        if read <= variables:
            reads.add(node.name)
            found.update(between)
    return reads, found


def _given_to_functions(nodes, values):
    """({name of a call, conditional or loop: {input: (type, shape) of the variable that it is given}}, {name: type
    attribute} of what lies between)."""
    calls: dict = {}
    found: dict = {}
    for node in nodes.values():
        if not frozen_functions.takes_functions(node):
            continue
        for i, text in enumerate(node.input):
            between, source = [], nodes.get(_node_name(text))
            while source is not None and source.op in _PASSING_ON:
                between.append(source.name)
                source = nodes.get(_node_name(source.input[0]))
            if source is not None and source.op == "VarHandleOp" and source.name in values:
                shape = TensorShape(values[source.name].shape).as_proto()
                calls.setdefault(node.name, {})[i] = source.attr["dtype"].type, shape
                found.update((name, source.attr["dtype"]) for name in between)
    return calls, found


def convert_variables_to_constants(sess, input_graph_def, output_node_names, variable_names_whitelist=None,
                                   variable_names_blacklist=None):
    """The part of a GraphDef that the outputs depend on, with each variable replaced by its value in `sess`."""
    graph_def = extract_sub_graph(input_graph_def, output_node_names)
    nodes = {node.name: node for node in graph_def.node}
    names = [n.name for n in graph_def.node if n.op in ("Variable", "VariableV2", "VarHandleOp")
             and (variable_names_whitelist is None or n.name in variable_names_whitelist)
             and (variable_names_blacklist is None or n.name not in variable_names_blacklist)]
    converted, types = _reads(nodes, set(names))
    reads = [n + "/Read/ReadVariableOp:0" if nodes[n].op == "VarHandleOp" else n + ":0" for n in names]
    values = dict(zip(names, sess.run(reads) if reads else []))
    result = _graph_def_class()()
    result.library.CopyFrom(graph_def.library)
    calls, between = _given_to_functions(nodes, values)
    types.update(between)
    freezer = frozen_functions.Freezer(result.library)
    for node in graph_def.node:
        made = result.node.add()
        if node.name in calls:
            made.CopyFrom(node)
            freezer.call(made, calls[node.name])
        elif node.name in values:
            value = values[node.name]
            _set_constant(made, node.name, node.attr["dtype"], value, value.shape)
        elif node.name in types:
            made.CopyFrom(node)
            made.attr.pop("_output_shapes", None)
            made.attr["T"].CopyFrom(types[node.name])
        elif node.op == "ReadVariableOp" and node.name in converted:
            made.op, made.name = "Identity", node.name
            made.input.append(node.input[0])
            made.attr["T"].CopyFrom(node.attr["dtype"])
            if "_class" in node.attr:
                made.attr["_class"].CopyFrom(node.attr["_class"])
        elif node.op == "ResourceGather" and node.name in converted:
            _gather(result, made, node)
        else:
            made.CopyFrom(node)
    if calls:
        frozen_functions.keep_named_functions(result)
    return result


def _gather(result, made, node):
    """ResourceGather becomes GatherV2 with an axis of 0."""
    if node.attr["batch_dims"].i != 0:
        raise ValueError("batch_dims != 0 is not supported by freeze_graph.")
    axis = node.name + "/axis"
    _set_constant(result.node.add(), axis, node.attr["Tindices"], 0)
    made.op, made.name = "GatherV2", node.name
    made.input.extend([node.input[0], node.input[1], axis])
    made.attr["Tparams"].CopyFrom(node.attr["dtype"])
    made.attr["Tindices"].CopyFrom(node.attr["Tindices"])
    made.attr["Taxis"].CopyFrom(node.attr["Tindices"])
    if "_class" in node.attr:
        made.attr["_class"].CopyFrom(node.attr["_class"])


def remove_training_nodes(input_graph, protected_nodes=None):
    """A GraphDef without CheckNumerics nodes and without Identity nodes that no control edge needs."""
    protected = set(protected_nodes or ())
    removed = {n.name for n in input_graph.node if n.op == "CheckNumerics" and n.name not in protected}
    kept = []
    for node in input_graph.node:
        if node.name not in removed:
            copy = type(node)()
            copy.CopyFrom(node)
            del copy.input[:]
            copy.input.extend(i for i in node.input if re.sub(r"^\^", "", i) not in removed)
            kept.append(copy)
    controlled = {n.name for n in kept if any(i.startswith("^") for i in n.input)}
    controls = {i[1:] for n in kept for i in n.input if i.startswith("^")}
    colocated = {re.sub("^loc:@", "", name.decode()) for n in kept if "_class" in n.attr
                 for name in n.attr["_class"].list.s}
    spliced = {n.name: n.input[0] for n in kept if n.op == "Identity" and n.name not in protected
               and n.name not in controlled and n.name not in controls and n.name not in colocated}
    result = _graph_def_class()()
    for node in kept:
        if node.name in spliced:
            continue
        made = result.node.add()
        made.CopyFrom(node)
        del made.input[:]
        for text in node.input:
            while re.sub(r"^\^", "", text) in spliced:
                text = spliced[re.sub(r"^\^", "", text)]
            made.input.append(text)
    return result


def graph_defs_equal(graph_def_1, graph_def_2, treat_nan_as_equal=False):
    """Whether two GraphDefs have the same nodes and functions, in whatever order. TypeError: they are none.

    treat_nan_as_equal: whether a value that is no number equals itself.
    """
    for i, graph_def in enumerate((graph_def_1, graph_def_2), 1):
        if getattr(getattr(graph_def, "DESCRIPTOR", None), "full_name", None) != "tensorflow.GraphDef":
            raise TypeError(f"graph_def_{i} must be a graph_pb2.GraphDef proto, but got type {type(graph_def)}.")

    def same(a, b):
        # Messages are compared as bytes, for which a NaN equals itself.
        return a == b and (treat_nan_as_equal or not re.search(r"^\s*\w+: -?nan$", str(a), re.MULTILINE))

    def same_by_name(these, those, name):
        these, those = {name(x): x for x in these}, {name(x): x for x in those}
        return these.keys() == those.keys() and all(same(these[key], those[key]) for key in these)

    def without_nodes(function):
        copy = type(function)()
        copy.CopyFrom(function)
        copy.ClearField("node_def")
        return copy

    functions = [{f.signature.name: f for f in graph_def.library.function} for graph_def in (graph_def_1, graph_def_2)]
    return same_by_name(graph_def_1.node, graph_def_2.node, lambda node: node.name) and same_by_name(
        map(without_nodes, functions[0].values()), map(without_nodes, functions[1].values()),
        lambda function: function.signature.name) and all(
            same_by_name(functions[0][key].node_def, functions[1][key].node_def, lambda node: node.name)
            for key in functions[0])
