"""Transforms of a graph's form: which nodes it has, what they are called, in which order they come."""
from penstock import _core
from penstock import proto
from penstock._src.graph import dtypes
from penstock._src.graph import tensor_shape
from penstock.proto import graph_pb2
from penstock._src.tools.graph_transforms.context import Nodes, constant_node, copied, invalid, node_name, plain_input
from penstock._src.tools.graph_transforms.context import reachable

_SYMBOLS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _for_name(context, what, name, default):
    """A parameter for one node: its default, or what stands beside the node's name."""
    names, given = context.all("name"), context.all(what + "_for_name")
    if given and len(names) != len(given):
        raise invalid(f"You must pass a '{what}_for_name' arg for every 'name'")
    return dict(zip(names, given)).get(name, context.one(what, default))


def _dtype(text):
    try:
        return dtypes.as_dtype(text).as_datatype_enum
    except TypeError:
        raise invalid(f"Couldn't understand type argument '{text}'") from None


def _shape(text):
    try:
        return tensor_shape.TensorShape([int(size) for size in text.split(",") if size.strip()])
    except ValueError:
        raise invalid(f"Could not parse as shape: '{text}'") from None


def strip_unused_nodes(graph_def, context):
    """What the outputs need, up to the inputs, which become placeholders."""
    nodes = Nodes(graph_def)
    wanted = reachable(nodes, context.output_nodes, context.input_nodes) | context.input_nodes
    made = graph_pb2.GraphDef()
    for node in graph_def.node:
        if node.name not in wanted:
            continue
        if node.name not in context.input_nodes or node.op == "Placeholder":
            made.node.add().CopyFrom(node)
            continue
        placeholder = made.node.add(op="Placeholder", name=node.name)
        placeholder.attr["dtype"].type = _dtype(_for_name(context, "type", node.name, "float"))
        placeholder.attr["shape"].shape.CopyFrom(_shape(_for_name(context, "shape", node.name, "")).as_proto())
    return made


def _renamed(text, target):
    """The input that reads `target` where `text` was read; a control input stays one."""
    return "^" + node_name(target) if text.startswith("^") else target


def remove_nodes(graph_def, context):
    """Without the nodes of some ops (`op=Identity`) that have up to `max_inputs` inputs: the first of these is read in
    their place. Inputs and outputs of the graph stay."""
    if not context.all("op"):
        raise invalid("remove_nodes expects at least one 'op'argument, e.g. remove_nodes(op=Identity)")
    most, kept = context.integer("max_inputs", 1), context.input_nodes | context.output_nodes
    removed = {}
    for node in graph_def.node:
        inputs = [text for text in node.input if not text.startswith("^")]
        if node.op in context.all("op") and 1 <= len(inputs) <= most and node.name not in kept:
            removed[node.name] = inputs[0]

    def resolved(text):
        seen = set()
        while node_name(text) in removed and text not in seen:
            seen.add(text)
            text = _renamed(text, removed[node_name(text)])
        return text

    made = graph_pb2.GraphDef()
    for node in graph_def.node:
        if node.name not in removed:
            copy = made.node.add()
            copy.CopyFrom(node)
            del copy.input[:]
            copy.input.extend(map(resolved, node.input))
    return made


def sort_by_execution_order(graph_def, context):
    """Each node behind those that it reads. InvalidArgumentError: nodes in a cycle that is no loop."""
    del context
    readers, pending = {node.name: [] for node in graph_def.node}, {}
    for i, node in enumerate(graph_def.node):
        controls = sum(text.startswith("^") for text in node.input)
        pending[i] = controls + 1 if node.op in ("Merge", "RefMerge") else len(node.input)
        for text in node.input:
            if node_name(text) not in readers:
                raise invalid(f"Node '{node.name}': Unknown input node '{text}'")
            readers[node_name(text)].append(i)
    ready, made = [i for i in pending if not pending[i]], graph_pb2.GraphDef()
    while ready:
        node = graph_def.node[ready.pop()]
        made.node.add().CopyFrom(node)
        for reader in readers[node.name]:
            pending[reader] -= 1
            if pending[reader] == 0:
                ready.append(reader)
    if len(made.node) < len(graph_def.node):
        raise invalid(f"{len(graph_def.node) - len(made.node)} nodes in a cycle")
    return made


def merge_duplicate_nodes(graph_def, context):
    """One node in the place of several that do the same with the same inputs; what has state stays."""
    made, nodes = copied(graph_def)
    kept = context.input_nodes | context.output_nodes
    while True:
        first, replaced = {}, {}
        for node in nodes.by_name.values():
            definition = _core.op_def(node.op)
            if definition is None or definition.is_stateful:
                continue
            key = (node.op, node.device, tuple(map(plain_input, node.input)),
                   tuple((name, node.attr[name].SerializeToString(deterministic=True)) for name in sorted(node.attr)))
            other = first.setdefault(key, node)
            if other is node:
                continue
            if node.name in kept and other.name not in kept:
                first[key], node, other = node, other, node
            if node.name not in kept:
                replaced[node.name] = other.name
        if not replaced:
            return nodes.graph_def()
        for name in replaced:
            del nodes.by_name[name]
        for node in nodes.by_name.values():
            texts = [text.replace(node_name(text), replaced.get(node_name(text), node_name(text)), 1)
                     for text in node.input]
            del node.input[:]
            node.input.extend(texts)


def _each(change):
    """A transform that changes each node by itself: change(node, context)."""
    def transform(graph_def, context):
        made = graph_pb2.GraphDef()
        made.node.extend(graph_def.node)
        for node in made.node:
            change(node, context)
        return made

    transform.__doc__ = change.__doc__
    return transform


def _required(context, transform, *names):
    if any(len(context.all(name)) != 1 for name in names):
        raise invalid(f"{transform} expects exactly one {' and one '.join(map(repr, names))} argument")
    return [context.one(name) for name in names]


@_each
def rename_op(node, context):
    """Another op in the place of one."""
    old, new = _required(context, "rename_op", "old_op_name", "new_op_name")
    if node.op == old:
        node.op = new


@_each
def rename_attribute(node, context):
    """Another name for an attribute, of one op or of all."""
    old, new = _required(context, "rename_attribute", "old_attribute_name", "new_attribute_name")
    if context.one("op_name", "*") in ("*", node.op) and old in node.attr:
        node.attr[new].CopyFrom(node.attr[old])
        del node.attr[old]


@_each
def remove_attribute(node, context):
    """Without an attribute, of one op or of all."""
    name, = _required(context, "remove_attribute", "attribute_name")
    if context.one("op_name", "*") in ("*", node.op) and name in node.attr:
        del node.attr[name]


@_each
def remove_device(node, context):
    """Without devices."""
    del context
    node.device = ""


@_each
def set_device(node, context):
    """With one device for all nodes, or with `if_default` for those that have none."""
    if not context.boolean("if_default", False) or not node.device:
        node.device = context.one("device", "")


@_each
def remove_control_dependencies(node, context):
    """Without control inputs."""
    del context
    texts = [text for text in node.input if not text.startswith("^")]
    del node.input[:]
    node.input.extend(texts)


@_each
def add_default_attributes(node, context):
    """With the values that attributes have where nothing is said."""
    del context
    definition = _core.op_def(node.op)
    message = proto.message("tensorflow.OpDef").FromString(definition.proto()) if definition is not None else None
    for attr in message.attr if message is not None else ():
        if attr.HasField("default_value") and attr.name not in node.attr:
            node.attr[attr.name].CopyFrom(attr.default_value)


@_each
def backport_concatv2(node, context):
    """Concat in the place of ConcatV2."""
    del context
    if node.op == "ConcatV2":
        texts = [node.input[-1], *node.input[:-1]]
        del node.input[:]
        node.op = "Concat"
        node.input.extend(texts)
        if "Tidx" in node.attr:
            del node.attr["Tidx"]


def backport_tensor_array_v3(graph_def, context):
    """The second version of tensor arrays in the place of the third."""
    del context
    made, _ = copied(graph_def)
    arrays = {node.name for node in made.node if node.op in ("TensorArrayV3", "TensorArrayGradV3")}
    for node in made.node:
        if node.op.startswith("TensorArray") and node.op.endswith("V3"):
            node.op = node.op[:-1] + "2"
        texts = [text[:-2] + "/replacement_flow_node" if text.endswith(":1") and text[:-2] in arrays else text
                 for text in node.input]
        del node.input[:]
        node.input.extend(texts)
    made.node.extend(constant_node(name + "/replacement_flow_node", 1.0, dtypes.float32) for name in sorted(arrays))
    return made


def obfuscate_names(graph_def, context):
    """With short names in the place of all but those of inputs and outputs."""
    kept, new, count = set(context.inputs) | set(context.outputs), {}, 0
    for node in graph_def.node:
        name = node.name
        while name not in kept:
            digits, rest = "", count
            while True:
                digits, rest = _SYMBOLS[rest % len(_SYMBOLS)] + digits, rest // len(_SYMBOLS)
                if not rest:
                    break
            count += 1
            if digits not in kept:
                name = digits
                break
        new[node.name] = name
    made, _ = copied(graph_def)
    for node in made.node:
        for i, text in enumerate(node.input):
            source = node_name(text)
            if source not in new:
                raise invalid(f"No node named {source} for input to {node.name}")
            control = text.startswith("^")
            node.input[i] = "^" + new[source] if control else new[source] + text[len(source):]
        node.name = new[node.name]
    return made


TRANSFORMS = {function.__name__: function for function in (
    backport_tensor_array_v3, merge_duplicate_nodes, obfuscate_names, remove_nodes, sort_by_execution_order,
    strip_unused_nodes)}
TRANSFORMS.update(
    add_default_attributes=add_default_attributes, backport_concatv2=backport_concatv2,
    remove_attribute=remove_attribute, remove_control_dependencies=remove_control_dependencies,
    remove_device=remove_device, rename_attribute=rename_attribute, rename_op=rename_op, set_device=set_device)
