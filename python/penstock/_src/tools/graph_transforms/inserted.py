"""Transforms that put nodes into a graph: what prints, and tables in the place of sparse weights."""
import numpy as np

from penstock._src.graph import errors
from penstock._src.function import importer
from penstock._src.graph import ops
from penstock._src.graph import tensor_util
from penstock.proto import graph_pb2
from penstock.proto import node_def_pb2
from penstock.proto import types_pb2
from penstock._src.tools.graph_transforms.context import Nodes, constant_node, copied, node_name, rename_inputs
from penstock._src.checkpoint import py_checkpoint_reader


def insert_logging(graph_def, context):
    """With a Print behind each node that another one reads.

    op, prefix: of these ops, or with names that begin so. message, show_op, show_name: what comes before the values.
    first_n (-1), summarize (1024): as Print has them.
    """
    wanted, prefixes = set(context.all("op")), tuple(context.all("prefix"))
    message, first_n = context.one("message", ""), context.integer("first_n", -1)
    summarize = context.integer("summarize", 1024)
    _, nodes = copied(graph_def)
    read = {}
    for node in nodes.by_name.values():
        for text in node.input:
            name = node_name(text)
            read.setdefault(name, set()).add(0 if text.startswith("^") else int(text[len(name) + 1:] or 0))
    graph = ops.Graph()
    with graph.as_default():
        importer.import_graph_def(graph_def, name="")
    made, renamed = graph_pb2.GraphDef(), {}
    for node in nodes.by_name.values():
        made.node.append(node)
        outputs = graph.get_operation_by_name(node.name).outputs
        if node.name not in read or not outputs or wanted and node.op not in wanted \
                or prefixes and not node.name.startswith(prefixes):
            continue
        name, slots = node.name + "__print__", sorted(read[node.name])
        text = (f";{node.op};" if context.boolean("show_op", False) else "") + (
            f";{name};" if context.boolean("show_name", False) else "") + message
        log = made.node.add(op="Print", name=name, input=[f"{node.name}:0", *(f"{node.name}:{i}" for i in slots)])
        log.attr["message"].s = text.encode()
        log.attr["first_n"].i, log.attr["summarize"].i = first_n, summarize
        log.attr["T"].type = outputs[0].dtype.base_dtype.as_datatype_enum
        log.attr["U"].list.type.extend(outputs[i].dtype.base_dtype.as_datatype_enum for i in slots)
        renamed[f"{node.name}:0"] = name + ":0"
    nodes = Nodes(made)
    rename_inputs(nodes, renamed, ignored={text[:-2] for text in renamed.values()})
    return nodes.graph_def()


# Sparse weights


def _whole_name(name):
    """The name of the variable that a part of it belongs to."""
    head, _, tail = name.rpartition("/")
    return head if head and tail.startswith("part_") else name


def _slice_of(nodes, name):
    """How a saver's nodes restore a variable: "" or a shape and a slice of it."""
    for node in nodes.by_name.values():
        parts = node.name.split("/")
        if len(parts) == 2 and parts[0].startswith("save") and parts[1].startswith("Assign") and node.input[0] == name:
            restore = nodes.by_name[node_name(node.input[1])]
            keys, slices = (nodes.constant(restore, i) for i in (1, 2))
            found = [text for key, text in zip(keys, slices) if key.decode() == _whole_name(name)]
            if found:
                return found[0].decode()
    raise errors.InternalError(None, None, f"Unable to find RestoreV2 entry for variable: {name}")


def _read(reader, name, text):
    """A variable's value in a checkpoint, or a slice of it."""
    value = reader.get_tensor(_whole_name(name))
    if not text:
        return value
    places = []
    for part in text.split(" ")[-1].split(":"):
        start, comma, size = part.partition(",")
        places.append(slice(int(start), int(start) + int(size)) if comma else slice(None))
    return value[tuple(places)]


def _precondition(message):
    return errors.FailedPreconditionError(None, None, message)


def _table(nodes, gather, weights, value):
    """Puts a table of the weights that are not 0 in the place of a Gather; the node that fills it."""
    if value.ndim != 2 or value.shape[1] != 1:
        raise _precondition("Transform only applicable to subgraph with 'Const' with tensor of shape [N, 1]. But "
                            f"instead get shape [{','.join(map(str, value.shape))}].")
    keys = np.flatnonzero(np.abs(value) >= 1e-5)
    keys = keys if keys.size else np.zeros(1, np.int64)
    values = value.reshape(-1)[keys] if np.abs(value).max(initial=0) >= 1e-5 else np.zeros(1, np.float32)
    name, types = weights.name, {"key": types_pb2.DT_INT64, "value": types_pb2.DT_FLOAT}
    nodes.put(constant_node(name + "/indices", keys, types["key"]))
    nodes.put(constant_node(name + "/values", values, types["value"]))
    nodes.put(constant_node(gather.name + "/Const", 0., types["value"]))
    nodes.put(constant_node(gather.name + "/ExpandDims/Const", -1, types_pb2.DT_INT32))
    for op, made, inputs, named in (
            ("HashTable", name + "/HashTable", (), ("key_dtype", "value_dtype")),
            ("InitializeTable", name + "/InitializeTable", (name + "/HashTable", name + "/indices", name + "/values"),
             ("Tkey", "Tval")),
            ("LookupTableFind", gather.name + "/LookupTableFind",
             (name + "/HashTable", gather.input[1], gather.name + "/Const"), ("Tin", "Tout"))):
        node = node_def_pb2.NodeDef(op=op, name=made, input=inputs)
        for key, dtype in zip(named, types.values()):
            node.attr[key].type = dtype
        nodes.put(node)
    result = node_def_pb2.NodeDef(op="ExpandDims", name=gather.name, input=[
        gather.name + "/LookupTableFind", gather.name + "/ExpandDims/Const"])
    result.attr["T"].type = types["value"]
    nodes.put(result)
    return name + "/InitializeTable"


_NEEDS_TWO = ("Assign", "Reshape", "Equal", "Mean", "ScalarSummary")


def _remove(nodes, names, kept):
    """Removes nodes, what only they needed, and what cannot do without them."""
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        gone = nodes.by_name.get(name)
        if gone is None or gone.op == "RestoreV2":
            continue
        del nodes.by_name[name]
        nodes.changed()
        for text in gone.input:
            source = node_name(text)
            if nodes.uses(source) == 0 and source not in kept:
                waiting.append(source)
        for node in nodes.by_name.values():
            texts = [text for text in node.input if node_name(text) != name]
            if len(texts) == len(node.input):
                continue
            del node.input[:]
            node.input.extend(texts)
            if node.op == "ConcatV2" and len(texts) > 2:
                node.attr["N"].i = len(texts) - 1
            elif node.op == "ConcatV2" and len(texts) == 2:
                waiting.append(node_name(node.input.pop()))
                node.op = "Identity"
                node.attr.pop("N", None)
                node.attr.pop("Tidx", None)
            elif not texts or node.op == "SaveV2" or len(texts) == 1 and node.op in _NEEDS_TWO:
                waiting.append(node.name)
        nodes.changed()


def sparsify_gather(graph_def, context):
    """With tables of the weights that are not 0 in the place of gathers from columns of weights.

    input_checkpoint: where the values of weights are that are variables. group_init_node ("group_deps"): the NoOp that
    fills the tables. FailedPreconditionError: weights are no column of floats, or gathered along another axis.
    """
    made, nodes = copied(graph_def)
    for node in made.node:
        node.attr.pop("_output_shapes", None)
    path = context.one("input_checkpoint")
    reader = None if path is None else py_checkpoint_reader.NewCheckpointReader(path)
    group = context.one("group_init_node", "group_deps")
    fillers, unused, weights_of = [], [], {}
    for gather in [node for node in nodes.by_name.values() if node.op in ("Gather", "GatherV2")]:
        identity = nodes.source(gather, 0)
        weights = nodes.source(identity, 0) if identity is not None and identity.op == "Identity" else None
        if weights is None or weights.op not in ("Const", "Variable", "VariableV2"):
            continue
        if gather.op == "GatherV2":
            axis = nodes.constant(gather, 2)
            if axis is None:
                continue
            if axis != 0:
                raise _precondition("Transform only applicable to subgraph with GatherV2 over axis 0. Found axis "
                                    f"{int(axis)}.")
        if weights.attr["dtype"].type != types_pb2.DT_FLOAT:
            raise _precondition("Transform only applicable to subgraph with 'Const','Variable', or 'VariableV2' of "
                                f"dtype 'DT_FLOAT'. Found '{weights.op}' with name '{weights.name}'.")
        if weights.op == "Const":
            value = tensor_util.MakeNdarray(weights.attr["value"].tensor)
        elif reader is None:
            raise errors.InternalError(None, None, "Checkpoint reader was not initialized. ")
        else:
            value = _read(reader, weights.name, _slice_of(nodes, weights.name))
        fillers.append(_table(nodes, gather, weights, value))
        unused += [identity.name] + ([node_name(gather.input[2])] if gather.op == "GatherV2" else [])
        weights_of[weights.name] = identity.name
    nodes.changed()
    init = nodes.by_name.get(group)
    if init is None or init.op != "NoOp":
        init = node_def_pb2.NodeDef(op="NoOp", name=group)
        nodes.put(init)
    init.input.extend("^" + name for name in dict.fromkeys(fillers))
    kept = context.input_nodes | context.output_nodes
    _remove(nodes, [name for name in dict.fromkeys(unused) if nodes.uses(name) == 0 and name not in kept], kept)
    # What still reads a variable only saves and restores it.
    _remove(nodes, [name for name, read in weights_of.items()
                    if read not in nodes.by_name and name in nodes.by_name and nodes.by_name[name].op != "Const"], kept)
    return nodes.graph_def()


TRANSFORMS = {function.__name__: function for function in (insert_logging, sparsify_gather)}
