"""Transforms that make a float graph compute with 8 bits, and fix the ranges of what it computes."""
import collections
import math
import re

from penstock._src.files import file_io
from penstock._src.base import tf_logging as logging
from penstock.proto import node_def_pb2
from penstock.proto import types_pb2
from penstock._src.tools.graph_transforms import structure
from penstock._src.tools.graph_transforms.context import Nodes, constant_node, copied, invalid, node_name, rename_inputs

_U8, _I32, _FLOAT = types_pb2.DT_QUINT8, types_pb2.DT_QINT32, types_pb2.DT_FLOAT

# How an op is quantized: the attributes that stay, the types, whether its results have 32 bits, the inputs that stay as
# they are, whether all least values come before all greatest ones, the name if it is not "Quantized" and the op's.
_Kind = collections.namedtuple("_Kind", ["kept", "types", "wide", "plain", "separate", "name"],
                               defaults=((), False, None))
_PRODUCT = {"T1": _U8, "T2": _U8, "Toutput": _I32}
_FILTER = {"Tinput": _U8, "Tfilter": _U8, "out_type": _I32}
_POOL = _Kind(("ksize", "strides", "padding"), {"T": _U8}, False)
_QUANTIZED = {
    "Add": _Kind((), _PRODUCT, True),
    "AvgPool": _POOL,
    "BiasAdd": _Kind((), {"T1": _U8, "T2": _U8, "out_type": _I32}, True),
    "Concat": _Kind(("N",), {"T": _U8}, False, (0,), True),
    "Conv2D": _Kind(("strides", "padding"), _FILTER, True),
    "Conv2DBackpropInput": _Kind(("strides", "padding"), _FILTER, True, (0,), False, "QuantizedConv2DTranspose"),
    "MatMul": _Kind(("transpose_a", "transpose_b"), _PRODUCT, True),
    "MaxPool": _POOL,
    "Mul": _Kind((), _PRODUCT, True),
    "Relu": _Kind((), {"Tinput": _U8}, False),
    "Relu6": _Kind((), {"Tinput": _U8}, False),
    "Reshape": _Kind((), {"T": _U8}, False, (1,)),
    "ResizeBilinear": _Kind(("align_corners",), {"T": _U8}, False, (1,)),
}


def _node(op, name, inputs, types, mode=None):
    node = node_def_pb2.NodeDef(op=op, name=name, input=inputs)
    for key, dtype in types.items():
        node.attr[key].type = dtype
    if mode is not None:
        node.attr["mode"].s = mode
    return node


def _float_constant(name, value):
    return constant_node(name, value, _FLOAT)


def _three(name):
    return [f"{name}:{i}" for i in range(3)]


def _dequantize(name, source):
    return _node("Dequantize", name, source, {"T": _U8}, b"MIN_FIRST")


def _requantize(name, source, low, high):
    return _node("Requantize", name, [*_three(source), low, high], {"Tinput": _I32, "out_type": _U8})


def _given_range(context, low, high):
    """(least, greatest) of two parameters, of which none or both are given."""
    found = [context.number(name, None) for name in (low, high)]
    if found == [None, None]:
        return None
    if None in found:
        raise invalid(f"You must pass both {low} and {high} into quantize_nodes")
    return found


def _quantize_placeholders(nodes, context):
    """What is fed is of 8 bits, if its range is given."""
    given = _given_range(context, "input_min", "input_max")
    if given is None:
        return
    renamed = {}
    for node in [node for node in nodes.by_name.values() if node.op == "Placeholder"]:
        prefix = node.name + "_eightbit"
        node.attr["dtype"].type = _U8
        for word, value in zip(("min", "max"), given):
            nodes.put(_float_constant(f"{prefix}/{word}", value))
        renamed[node.name + ":0"] = f"{prefix}/dequantize"
    rename_inputs(nodes, renamed)
    for text, name in renamed.items():
        prefix = name[:-len("/dequantize")]
        nodes.put(_dequantize(name, [text[:-2], prefix + "/min", prefix + "/max"]))


def _data_inputs(node):
    return [text for text in node.input if not text.startswith("^")]


def _fake_quants(nodes):
    for node in list(nodes.by_name.values()):
        if node.op == "FakeQuantWithMinMaxVars" and all(
                nodes.source(node, i) is not None and nodes.source(node, i).op == "Const" for i in (1, 2)):
            yield node


def _hoist_fake_quants(nodes):
    """A trained range behind up to three ops of one input goes before them."""
    for depth in (3, 2, 1):
        for node in _fake_quants(nodes):
            chain, source = [], nodes.source(node, 0)
            while len(chain) < depth and source is not None and len(_data_inputs(source)) == 1 \
                    and nodes.uses(source.name) == 1:
                chain.append(source)
                source = nodes.source(source, 0)
            if len(chain) < depth or source is None:
                continue
            moved = node_def_pb2.NodeDef()
            moved.CopyFrom(node)
            moved.name, moved.input[0] = node.name + "_hoisted", chain[-1].input[0]
            chain[-1].input[0] = moved.name
            del nodes.by_name[chain[0].name], nodes.by_name[node.name]
            chain[0].name = node.name
            nodes.put(chain[0])
            nodes.put(moved)
            nodes.changed()


def _convert_fake_quants(nodes):
    """A trained range becomes that of a Requantize."""
    for node in _fake_quants(nodes):
        prefix, low, high = node.name + "_eightbit", node_name(node.input[1]), node_name(node.input[2])
        nodes.put(_node("QuantizeV2", prefix + "/quantize", [node.input[0], low, high], {"T": _I32}, b"MIN_FIRST"))
        nodes.put(_requantize(prefix + "/requantize", prefix + "/quantize", low, high))
        nodes.put(_dequantize(node.name, _three(prefix + "/requantize")))


def _quantized_input(nodes, prefix, text):
    """The name of a node that quantizes an input by its own range."""
    name = node_name(text)
    port = text[len(name) + 1:]
    unique = f"{prefix}/{name}" + (f"__port__{port}" if port else "")
    for word, value in (("reshape_dims", [-1]), ("reduction_dims", [0])):
        node = constant_node(f"{unique}/{word}", value, types_pb2.DT_INT32)
        node.input.append("^" + name)
        nodes.put(node)
    nodes.put(_node("Reshape", unique + "/reshape", [text, unique + "/reshape_dims"], {"T": _FLOAT}))
    for op in "Min", "Max":
        node = _node(op, f"{unique}/{op.lower()}", [unique + "/reshape", unique + "/reduction_dims"], {"T": _FLOAT})
        node.attr["keep_dims"].b = False
        nodes.put(node)
    nodes.put(_node("QuantizeV2", unique + "/quantize", [text, unique + "/min", unique + "/max"], {"T": _U8},
                    b"MIN_FIRST"))
    return unique + "/quantize"


def _quantize_op(nodes, node, kind, fallback):
    """Puts what computes with 8 bits in the place of a float op, with conversions before and behind."""
    prefix, name = node.name + "_eightbit", node.name + "/eightbit"
    texts = _data_inputs(node)
    quantized = {i: _quantized_input(nodes, prefix, text) for i, text in enumerate(texts) if i not in kind.plain}
    inputs = [f"{quantized[i]}:0" if i in quantized else text for i, text in enumerate(texts)]
    if kind.separate:
        inputs += [f"{source}:{slot}" for slot in (1, 2) for source in quantized.values()]
    else:
        inputs += [f"{source}:{slot}" for source in quantized.values() for slot in (1, 2)]
    main = _node(kind.name or "Quantized" + node.op, name, inputs + [t for t in node.input if t.startswith("^")],
                 kind.types)
    for key in kind.kept:
        if key in node.attr:
            main.attr[key].CopyFrom(node.attr[key])
    nodes.put(main)
    result = name
    if kind.wide:
        result = name + "/requantize"
        if fallback is not None:
            low, high = name + "/fallback_min", name + "/fallback_max"
            nodes.put(_float_constant(low, fallback[0]))
            nodes.put(_float_constant(high, fallback[1]))
        else:
            nodes.put(_node("RequantizationRange", name + "/requant_range", _three(name), {"Tinput": _I32}))
            low, high = (f"{name}/requant_range:{i}" for i in (0, 1))
        nodes.put(_requantize(result, name, low, high))
    nodes.put(_dequantize(node.name, _three(result)))


def _merge_requantizes(nodes):
    """A range that is measured gives way to a trained one right behind."""
    for node in list(nodes.by_name.values()):
        quantize = nodes.source(node, 0) if node.op == "Requantize" else None
        dequantize = nodes.source(quantize, 0) if quantize is not None and quantize.op == "QuantizeV2" else None
        measured = nodes.source(dequantize, 0) if dequantize is not None and dequantize.op == "Dequantize" else None
        if measured is None or measured.op != "Requantize" or nodes.source(measured, 3).op != "RequantizationRange" \
                or any(nodes.source(node, i).op != "Const" for i in (3, 4)) \
                or any(nodes.uses(between.name) > uses for between, uses in (
                    (quantize, 3), (dequantize, 1), (measured, 3))):
            continue
        original = node_name(measured.input[0])
        del node.input[:3]
        texts = [*_three(original), *node.input]
        del node.input[:]
        node.input.extend(texts)
        for gone in quantize, dequantize, measured, nodes.source(measured, 3):
            nodes.by_name.pop(gone.name, None)
        nodes.changed()


def _skip_conversions(nodes):
    """What was 8 bits before it was made float is taken as it was."""
    renamed = {}
    for node in nodes.by_name.values():
        source = nodes.source(node, 0) if node.op == "QuantizeV2" else None
        if source is not None and source.op == "Dequantize" and nodes.source(node, 1).op == "Min" \
                and nodes.source(node, 2).op == "Max":
            renamed.update({f"{node.name}:{i}": source.input[i] for i in range(3)})
    rename_inputs(nodes, renamed)


def quantize_nodes(graph_def, context):
    """With float ops computed in 8 bits where there is such an op; `ignore_op` names those that are left alone.

    input_min, input_max: placeholders are fed with 8 bits of this range. fallback_min, fallback_max: the range of
    results, which are else measured in each run, or trained (FakeQuantWithMinMaxVars). InvalidArgumentError: one of
    such a pair is missing.
    """
    _, nodes = copied(graph_def)
    _quantize_placeholders(nodes, context)
    _hoist_fake_quants(nodes)
    _convert_fake_quants(nodes)
    fallback = _given_range(context, "fallback_min", "fallback_max")
    ignored = context.all("ignore_op")
    for node in list(nodes.by_name.values()):
        kind = _QUANTIZED.get(node.op)
        dtype = node.attr["T"].type if "T" in node.attr else _FLOAT
        if kind is not None and node.op not in ignored and dtype == _FLOAT:
            _quantize_op(nodes, node, kind, fallback)
    nodes.changed()
    _merge_requantizes(nodes)
    nodes = Nodes(structure.merge_duplicate_nodes(nodes.graph_def(), context))
    _skip_conversions(nodes)
    return nodes.graph_def()


# Ranges that were logged


_LOGGED = re.compile(r"([^;]*)__print__;__requant_min_max:\[([^\[\]]*)\]\[([^\[\]]*)\]")


def _logged_ranges(path):
    """{node: [(least, greatest)]} of the lines that nodes of insert_logging printed."""
    found = collections.defaultdict(list)
    for line in file_io.read_file_to_string(path).split("\n"):
        match = _LOGGED.search(line)
        if match:
            try:
                logged = float(match.group(2)), float(match.group(3))
            except ValueError:
                continue
            found[match.group(1)].append(logged)
    return found


def freeze_requantization_ranges(graph_def, context):
    """With constants in the place of RequantizationRange nodes whose results were logged (`min_max_log_file`).

    min_percentile, max_percentile (5): the part of the least and greatest values that does not count.
    InvalidArgumentError: there is no such file or nothing in it, or it names nodes that are no such ones.
    """
    path = context.one("min_max_log_file", "")
    if not path:
        raise invalid("You must pass a file name to min_max_log_file")
    low, high = context.number("min_percentile", 5.), context.number("max_percentile", 5.)
    ranges = _logged_ranges(path)
    if not ranges:
        raise invalid("No min/max range logs were found in the log file")
    _, nodes = copied(graph_def)
    absent = [name for name in ranges if name not in nodes.by_name]
    for name in absent:
        logging.warning("Node from log not found in graph: %s", name)
    if absent:
        raise invalid("Nodes were found in the log file that aren't present in the graph")
    renamed = {}
    for name, logged in ranges.items():
        node = nodes.by_name.pop(name)
        if node.op != "RequantizationRange":
            raise invalid(f"Node is expected to be a RequantizationRange op: {name}, but is: {node.op}")
        least, greatest = (sorted(values) for values in zip(*logged))
        at = max(math.floor(len(least) * (low / 100) + 0.5), 0)
        to = min(math.floor(len(greatest) * (1 - high / 100) + 0.5), len(greatest) - 1)
        for slot, (word, value) in enumerate((("min", least[at]), ("max", greatest[to]))):
            nodes.put(_float_constant(f"{name}/frozen_{word}", value))
            renamed[f"{name}:{slot}"] = f"{name}/frozen_{word}:0"
    rename_inputs(nodes, renamed)
    return nodes.graph_def()


TRANSFORMS = {function.__name__: function for function in (quantize_nodes, freeze_requantization_ranges)}
