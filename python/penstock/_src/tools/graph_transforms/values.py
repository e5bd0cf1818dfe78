"""Transforms of a graph's constants: what is computed beforehand, and weights folded, rounded and quantized."""
import numpy as np

from penstock import _core
from penstock._src.session import session
from penstock._src.graph import dtypes
from penstock._src.function import importer
from penstock._src.graph import ops
from penstock.proto import node_def_pb2
from penstock._src.tools.graph_transforms.context import Nodes, constant_node, copied, invalid, node_name
from penstock._src.tools.graph_transforms.context import reachable

_CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative")
# What depends on where a value came from, not only on the value.
_FLOW = frozenset(("Switch", "RefSwitch", "Merge", "RefMerge", "Enter", "RefEnter", "Exit", "RefExit", "NextIteration",
                   "RefNextIteration", "LoopCond", "ControlTrigger", "NoOp", "Placeholder", "PlaceholderV2",
                   "PlaceholderWithDefault"))


# Constants


def _slot(text):
    """(node, number of the output) of an input."""
    name = node_name(text)
    return name, int(text[len(name) + 1:] or 0) if not text.startswith("^") else 0


def _computable(graph_def, context):
    """Names of nodes whose values follow from constants alone."""
    excluded = set(context.all("exclude_node")) | context.input_nodes
    excluded_ops = set(context.all("exclude_op")) | _FLOW
    nodes, known = Nodes(graph_def), {}
    for root in nodes.by_name:
        waiting = [root]
        while waiting:
            name = waiting[-1]
            if name in known:
                waiting.pop()
                continue
            node = nodes.by_name.get(name)
            definition = _core.op_def(node.op) if node is not None else None
            if definition is None or definition.is_stateful or not definition.has_kernel or name in excluded \
                    or node.op in excluded_ops or not node.input and node.op != "Const":
                known[name] = False
                waiting.pop()
                continue
            sources = [node_name(text) for text in node.input]
            unknown = [source for source in sources if source not in known]
            if unknown and not any(source in waiting for source in unknown):
                waiting.extend(unknown)
                continue
            known[name] = all(known.get(source, False) for source in sources)  # not in a cycle
            waiting.pop()
    return {name for name, computable in known.items() if computable}


def _shapes_known(graph):
    """{name: value} of nodes that give the shape, rank or size of what has a known shape."""
    found = {}
    for op in graph.get_operations():
        if op.type not in ("Shape", "Rank", "Size"):
            continue
        shape, dtype = op.inputs[0].shape, op.outputs[0].dtype.as_numpy_dtype
        if op.type == "Rank" and shape.ndims is not None:
            found[op.name] = np.array(shape.ndims, dtype)
        elif shape.is_fully_defined() and op.type == "Shape":
            found[op.name] = np.array(shape.as_list(), dtype)
        elif shape.is_fully_defined() and op.type == "Size":
            found[op.name] = np.array(shape.num_elements(), dtype)
    return found


def fold_constants(graph_def, context):
    """With constants in the place of what follows from constants, and without what is no longer needed.

    clear_output_shapes (true): shapes that were written into the graph do not count. exclude_op, exclude_node: what
    stays. max_constant_size_in_bytes (10485760): larger ones are not put in. Inputs must be placeholders.
    """
    made, _ = copied(graph_def)
    if context.boolean("clear_output_shapes", True):
        for node in made.node:
            if "_output_shapes" in node.attr:
                del node.attr["_output_shapes"]
    made.library.CopyFrom(graph_def.library)
    nodes = Nodes(made)
    kept = reachable(nodes, context.output_nodes, context.input_nodes) | (context.input_nodes & nodes.by_name.keys())
    nodes.by_name = {name: node for name, node in nodes.by_name.items() if name in kept}
    _as_placeholders(nodes, context)
    made = nodes.graph_def()
    made.library.CopyFrom(graph_def.library)
    graph = ops.Graph()
    with graph.as_default():
        importer.import_graph_def(made, name="")
    shapes = {name: value for name, value in _shapes_known(graph).items()
              if nodes.by_name[name].op not in context.all("exclude_op") and name not in context.all("exclude_node")}
    for name, value in shapes.items():
        nodes.put(constant_node(name, value))
    made = nodes.graph_def()
    computable = _computable(made, context)
    wanted = {_slot(text) for node in made.node if node.name not in computable for text in node.input
              if not text.startswith("^") and node_name(text) in computable}
    wanted |= {(name, 0) for name in context.output_nodes if name in computable}
    wanted = sorted(key for key in wanted if nodes.by_name[key[0]].op != "Const")
    with graph.as_default(), session.Session(graph=graph) as sess:
        computed = dict(zip(wanted, sess.run(["%s:%d" % key for key in wanted])))
    limit = context.integer("max_constant_size_in_bytes", 10 << 20)
    _put_constants(nodes, {key: value for key, value in computed.items() if np.asarray(value).nbytes <= limit}, graph)
    used = reachable(nodes, context.output_nodes, context.input_nodes) | (context.input_nodes & nodes.by_name.keys())
    nodes.by_name = {name: node for name, node in nodes.by_name.items() if name in used}
    return nodes.graph_def()


def _put_constants(nodes, computed, graph):
    """A node with one output becomes a constant; of several outputs, each gets one beside it."""
    beside = {}
    for (name, slot), value in computed.items():
        op = graph.get_operation_by_name(name)
        if len(op.outputs) > 1:
            beside[name, slot] = f"{name}__cf__{slot}"
        nodes.put(constant_node(beside.get((name, slot), name), value, op.outputs[slot].dtype))
    for node in nodes.by_name.values():
        for i, text in enumerate(node.input):
            if not text.startswith("^") and _slot(text) in beside:
                node.input[i] = beside[_slot(text)]


def _as_placeholders(nodes, context):
    for name in context.input_nodes:
        node = nodes.by_name.get(name)
        if node is None:
            raise invalid(f"Input '{name}' is not in the graph")
        if node.op == "PlaceholderWithDefault":
            node.op = "Placeholder"
            del node.input[:]
        elif node.op != "Placeholder":
            raise invalid(f"Input '{name}' was expected to be a Placeholder or PlaceholderWithDefault op, but was "
                          f"{node.op}")


# Batch normalization


def _columns(node, weights):
    """The number of a convolution's or product's output channels."""
    if node.op == "DepthwiseConv2dNative":
        return weights.shape[2] * weights.shape[3]
    return weights.shape[-1]


def _scaled(nodes, node, weights, scale):
    """Puts `weights` times the channels' scale into the graph."""
    by_channel = weights.reshape(-1, _columns(node, weights)) * scale
    nodes.put(constant_node(node_name(node.input[1]), by_channel.reshape(weights.shape).astype(weights.dtype)))


def _weights(nodes, node, ops_, kept):
    """The constant weights of a node of one of these ops, if it and they are for one reader only."""
    if node is None or node.op not in ops_ or node.name in kept or nodes.uses(node.name) != 1:
        return None
    weights = nodes.constant(node, 1)
    if weights is None or nodes.uses(node_name(node.input[1])) != 1 or node_name(node.input[1]) in kept:
        return None
    return weights if weights.ndim == (2 if node.op == "MatMul" else 4) else None


def fold_batch_norms(graph_def, context):
    """With factors behind convolutions and products (Mul with a constant) in their weights."""
    made, nodes = copied(graph_def)
    for mul in list(nodes.by_name.values()):
        if mul.op != "Mul" or len(mul.input) != 2:
            continue
        node, scale = nodes.source(mul, 0), nodes.constant(mul, 1)
        weights = _weights(nodes, node, _CONVOLUTIONS + ("MatMul",), context.output_nodes)
        if weights is None or scale is None or node_name(mul.input[1]) in context.output_nodes:
            continue
        if node.op == "MatMul" and node.attr["transpose_b"].b:
            continue
        if scale.shape != (_columns(node, weights),):
            raise invalid(f"Mul constant input to batch norm has bad shape: {list(scale.shape)}")
        _scaled(nodes, node, weights, scale)
        if nodes.uses(node_name(mul.input[1])) == 1:
            del nodes.by_name[node_name(mul.input[1])]
        del nodes.by_name[node.name]
        folded = node_def_pb2.NodeDef()
        folded.CopyFrom(node)
        folded.name = mul.name
        nodes.put(folded)
    return nodes.graph_def()


def _scale_and_offset(nodes, norm):
    """What a batch normalization with constant statistics multiplies by and adds; None if they are not constant."""
    fused = norm.op != "BatchNormWithGlobalNormalization"
    mean, variance, beta, gamma = (nodes.constant(norm, i, 1) for i in ((3, 4, 2, 1) if fused else (1, 2, 3, 4)))
    if any(value is None for value in (mean, variance, beta, gamma)) or fused and norm.attr["is_training"].b:
        return None
    for value, what in ((variance, "Variance"), (beta, "Beta"), (gamma, "gamma")):
        if value.shape != mean.shape:
            raise invalid(f"{what} input to batch norm has bad shape: {list(value.shape)}")
    scale = 1 / np.sqrt(variance + np.float32(norm.attr["epsilon" if fused else "variance_epsilon"].f))
    if fused or norm.attr["scale_after_normalization"].b:
        scale = scale * gamma
    return scale, beta - mean * scale


def _bias(nodes, node, offset, name):
    """Adds an offset behind a convolution; the sum is called `name`."""
    nodes.put(constant_node(node.name + "_bn_offset", offset.astype(np.float32)))
    bias = node_def_pb2.NodeDef(op="BiasAdd", name=name, input=[node.name, node.name + "_bn_offset"])
    for attr in ("data_format", "T"):
        if attr in node.attr:
            bias.attr[attr].CopyFrom(node.attr[attr])
    nodes.put(bias)


def fold_old_batch_norms(graph_def, context):
    """With batch normalization of given statistics in the weights of the convolution before it, also through
    BatchToSpaceND and a ConcatV2 of two; an addition is left of it."""
    made, nodes = copied(graph_def)
    for norm in list(nodes.by_name.values()):
        if norm.op not in ("BatchNormWithGlobalNormalization", "FusedBatchNorm", "FusedBatchNormV2",
                           "FusedBatchNormV3"):
            continue
        before = nodes.source(norm, 0)
        if before is None or before.name in context.output_nodes or nodes.uses(before.name) != 1:
            continue
        parts = _scale_and_offset(nodes, norm)
        if parts is None:
            continue
        scale, offset = parts
        axis = nodes.constant(before, 2) if before.op == "ConcatV2" and len(before.input) == 3 else None
        if before.op in _CONVOLUTIONS:
            folded = _fold_one(nodes, before, scale, offset, norm.name, context)
        elif before.op == "BatchToSpaceND":
            node = nodes.source(before, 0)
            name = node.name + "/biasadd" if node is not None else ""
            folded = _fold_one(nodes, node, scale, offset, name, context)
            if folded:
                _moved(nodes, before, norm.name, [name])
        elif axis is not None:
            folded = _fold_two(nodes, before, scale, offset, int(axis), norm.name, context)
        else:
            folded = False
        if folded:
            for text in norm.input[1:]:
                if nodes.uses(node_name(text)) == 1 and node_name(text) not in context.output_nodes:
                    nodes.by_name.pop(node_name(text), None)
    return nodes.graph_def()


def _fold_one(nodes, node, scale, offset, name, context):
    weights = _weights(nodes, node, _CONVOLUTIONS, context.output_nodes)
    if weights is None or _columns(node, weights) != len(scale):
        return False
    _scaled(nodes, node, weights, scale)
    _bias(nodes, node, offset, name)
    return True


def _fold_two(nodes, concat, scale, offset, axis, name, context):
    pair = [nodes.source(concat, i) for i in (0, 1)]
    weights = [_weights(nodes, node, _CONVOLUTIONS, context.output_nodes) for node in pair]
    if any(w is None for w in weights) or axis not in (0, 1, 2, 3):
        return False
    columns = [_columns(node, w) for node, w in zip(pair, weights)]
    starts = [0, columns[0]] if axis == 3 else [0, 0]
    if any(start + count > len(scale) for start, count in zip(starts, columns)):
        return False
    names = [f"{concat.name}_bn_in{i}" for i in (0, 1)]
    for node, start, count, bias in zip(pair, starts, columns, names):
        _fold_one(nodes, node, scale[start:start + count], offset[start:start + count], bias, context)
    _moved(nodes, concat, name, names)
    return True


def _moved(nodes, node, name, inputs):
    """Gives a node another name and other first inputs."""
    moved = node_def_pb2.NodeDef()
    moved.CopyFrom(node)
    moved.name = name
    for i, text in enumerate(inputs):
        moved.input[i] = text
    del nodes.by_name[node.name]
    nodes.put(moved)


def flatten_atrous_conv(graph_def, context):
    """With a convolution of a larger filter in the place of one between SpaceToBatchND and BatchToSpaceND."""
    made, nodes = copied(graph_def)
    for last in list(nodes.by_name.values()):
        node = nodes.source(last, 0) if last.op == "BatchToSpaceND" else None
        weights = _weights(nodes, node, _CONVOLUTIONS, context.output_nodes)
        first = nodes.source(node, 0) if weights is not None else None
        if first is None or first.op != "SpaceToBatchND" or nodes.uses(first.name) != 1:
            continue
        blocks = nodes.constant(first, 1, 1)
        if blocks is None or len(blocks) != 2:
            continue
        sizes = [(size - 1) * int(block) + 1 for size, block in zip(weights.shape, blocks)]
        wide = np.zeros([*sizes, *weights.shape[2:]], weights.dtype)
        wide[::int(blocks[0]), ::int(blocks[1])] = weights
        nodes.put(constant_node(node_name(node.input[1]), wide))
        flat = node_def_pb2.NodeDef()
        flat.CopyFrom(node)
        flat.name, flat.input[0] = last.name, first.input[0]
        flat.attr["padding"].s = b"SAME"
        for gone in (node, first):
            del nodes.by_name[gone.name]
        nodes.put(flat)
    return nodes.graph_def()


# Weights


def _float_constants(graph_def, least):
    """(node, array) of the float constants with at least so many elements."""
    nodes = Nodes(graph_def)
    for node in graph_def.node:
        if node.op != "Const":
            continue
        for attr in ("dtype", "value"):
            if attr not in node.attr:
                raise invalid(f"No '{attr}' attribute for Const node {node.name}")
        if node.attr["dtype"].type == dtypes.float32.as_datatype_enum:
            reader = node_def_pb2.NodeDef(input=[node.name])
            value = nodes.constant(reader, 0)
            if value.size >= least:
                yield node, value


def _range(value):
    """The least and greatest element, no less than 0 and the least positive number, as TensorFlow looks for it."""
    return min(np.float32(np.finfo(np.float32).max), value.min()), max(np.finfo(np.float32).tiny, value.max())


def round_weights(graph_def, context):
    """With float constants of 16 elements or more rounded to `num_steps` (256) values, so that files compress well."""
    steps = context.integer("num_steps", 256)
    if steps < 1:
        raise invalid(f"num_steps must be positive, not {steps}")
    made, nodes = copied(graph_def)
    for node, value in list(_float_constants(made, 16)):
        low, high = _range(value)
        if low == high:
            low, high = (low, low + 1) if abs(low) < 1e-6 else (low, 2 * low) if low > 0 else (2 * high, high)
        width = np.float32(high - low) / np.float32(steps)
        bucket = np.floor((value - low) / width)
        nodes.put(constant_node(node.name, (low + width * (bucket + np.float32(.5))).astype(np.float32)))
    return nodes.graph_def()


def _quantized(value, low, high):
    """As 8 bits between low and high."""
    scale = 256 / ((float(high) - float(low)) * 256 / 255)

    def rounded(x):
        return np.sign(x) * np.floor(np.abs(x) + 0.5)

    return np.clip(rounded(value.astype(np.float64) * scale) - rounded(float(low) * scale), 0, 255).astype(np.uint8)


def quantize_weights(graph_def, context):
    """With float constants of `minimum_size` (1024) elements or more in 8 bits, and a Dequantize behind them."""
    made, nodes = copied(graph_def)
    for node, value in list(_float_constants(made, max(context.integer("minimum_size", 1024), 1))):
        low, high = _range(value)
        low, high = min(low, np.float32(0)), max(high, np.float32(0))
        if low == high:
            high = low + 1
        names = [node.name + end for end in ("_quantized_const", "_quantized_min", "_quantized_max")]
        bits = constant_node(names[0], _quantized(value, low, high))
        for owner in (bits.attr["dtype"], bits.attr["value"].tensor):
            setattr(owner, "type" if owner is bits.attr["dtype"] else "dtype", dtypes.quint8.as_datatype_enum)
        for made_node in (bits, constant_node(names[1], np.float32(low)), constant_node(names[2], np.float32(high))):
            nodes.put(made_node)
        whole = node_def_pb2.NodeDef(op="Dequantize", name=node.name, input=names)
        whole.attr["T"].type = dtypes.quint8.as_datatype_enum
        whole.attr["mode"].s = b"MIN_FIRST"
        nodes.put(whole)
    return nodes.graph_def()


TRANSFORMS = {function.__name__: function for function in (
    flatten_atrous_conv, fold_batch_norms, fold_constants, fold_old_batch_norms, quantize_weights, round_weights)}
