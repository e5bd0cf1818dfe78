"""Makes a frozen graph smaller and faster: batch normalization is folded into convolutions, and more."""
import collections
import re

import numpy as np

from penstock._src.graph import dtypes
from penstock._src.function import graph_util
from penstock._src.graph import tensor_util
from penstock._src.base import tf2
from penstock._src.base import tf_logging
from penstock.proto import graph_pb2
from penstock._src.tools import strip_unused_lib

# Which input is what, for the two forms of batch normalization.
INPUT_ORDER = {
    "BatchNormWithGlobalNormalization": ["conv_op", "mean_op", "var_op", "beta_op", "gamma_op"],
    "FusedBatchNorm": ["conv_op", "gamma_op", "beta_op", "mean_op", "var_op"],
    "FusedBatchNormV3": ["conv_op", "gamma_op", "beta_op", "mean_op", "var_op"],
}
_BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
EPSILON_ATTR = {"BatchNormWithGlobalNormalization": "variance_epsilon", "FusedBatchNorm": "epsilon",
                "FusedBatchNormV3": "epsilon"}


def optimize_for_inference(input_graph_def, input_node_names, output_node_names, placeholder_type_enum,
                           toco_compatible=False, placeholder_to_const_names=None):
    """A GraphDef that computes the same outputs from the same inputs.

    placeholder_to_const_names: see `convert_placeholder_to_const`. In version 2 Keras' learning phase is False.
    """
    ensure_graph_is_valid(input_graph_def)
    graph_def = input_graph_def
    if placeholder_to_const_names or tf2.enabled():
        graph_def = convert_placeholder_to_const(graph_def, placeholder_to_const_names)
    graph_def = strip_unused_lib.strip_unused(graph_def, input_node_names, output_node_names,
                                              placeholder_type_enum)
    graph_def = graph_util.remove_training_nodes(graph_def, output_node_names)
    graph_def = fold_batch_norms(graph_def)
    if not toco_compatible:
        graph_def = fuse_resize_and_conv(graph_def, output_node_names)
    ensure_graph_is_valid(graph_def)
    return graph_def


def convert_placeholder_to_const(input_graph_def, nodes_to_convert=None):
    """A GraphDef with constants in the place of some placeholders of booleans, with defaults or without.

    nodes_to_convert: texts such as "phase_train=False", with parts of the nodes' names. ValueError: one is none.
    `keras_learning_phase` becomes False, unless they say otherwise.
    """
    values = {"keras_learning_phase": False}
    for text in nodes_to_convert or ():
        name, _, value = text.partition("=")
        if value.strip().lower() not in _BOOLEANS:
            raise ValueError(f"Expected NAME=True or NAME=False, got {text!r}.")
        values[name.strip()] = _BOOLEANS[value.strip().lower()]
    result = type(input_graph_def)()
    result.CopyFrom(input_graph_def)
    for node in result.node:
        found = [value for name, value in values.items() if name in node.name]
        if not found or node.op not in ("Placeholder", "PlaceholderWithDefault"):
            continue
        dtype = dtypes.as_dtype(node.attr["dtype"].type)
        if dtype != dtypes.bool:
            tf_logging.warning("The placeholder %s stays one: it is of type %s, not bool.", node.name, dtype.name)
            continue
        node.op = "Const"
        del node.input[:]
        for name in [name for name in node.attr if name != "dtype"]:
            del node.attr[name]
        node.attr["value"].tensor.CopyFrom(tensor_util.make_tensor_proto(found[-1], dtypes.bool, []))
    return result


def ensure_graph_is_valid(graph_def):
    """ValueError if a name comes twice or an input is missing."""
    nodes = _by_name(graph_def)
    for node in graph_def.node:
        for text in node.input:
            if node_name_from_input(text) not in nodes:
                raise ValueError("Input for ", node.name, " not found: ", text)


def _by_name(graph_def):
    nodes = {}
    for node in graph_def.node:
        if node.name in nodes:
            raise ValueError("Duplicate node names detected for ", node.name)
        nodes[node.name] = node
    return nodes


def node_name_from_input(node_name):
    """The node in an input such as "^a" or "a:1"."""
    return re.sub(r":\d+$", "", node_name[1:] if node_name.startswith("^") else node_name)


def node_from_map(node_map, name):
    """The node that an input names. ValueError if there is none."""
    try:
        return node_map[node_name_from_input(name)]
    except KeyError:
        raise ValueError("No node named '%s' found in map." % name) from None


def values_from_const(node_def):
    """The value of a constant. ValueError for another node."""
    if node_def.op != "Const":
        raise ValueError("Node named '%s' should be a Const op for values_from_const." % node_def.name)
    return tensor_util.MakeNdarray(node_def.attr["value"].tensor)


def scale_after_normalization(node):
    """Whether batch normalization multiplies by gamma."""
    return node.attr["scale_after_normalization"].b if node.op == "BatchNormWithGlobalNormalization" else True


def _set_const(node, name, value, dtype_attr):
    node.op, node.name = "Const", name
    node.attr["dtype"].CopyFrom(dtype_attr)
    node.attr["value"].tensor.CopyFrom(tensor_util.make_tensor_proto(value, value.dtype.type, value.shape))


def _parameters(node, nodes):
    """Convolution, weights and the constants of a batch normalization; None if they are not as they must be."""
    inputs = {name: node_from_map(nodes, node.input[i]) for i, name in enumerate(INPUT_ORDER[node.op])}
    conv = inputs["conv_op"]
    if conv.op not in ("Conv2D", "DepthwiseConv2dNative"):
        tf_logging.warning("Didn't find expected Conv2D or DepthwiseConv2dNative input to '%s'" % node.name)
        return None
    weights_op = node_from_map(nodes, conv.input[1])
    if weights_op.op != "Const":
        tf_logging.warning("Didn't find expected conv Constant input to '%s', found %s instead. Maybe because "
                           "freeze_graph wasn't run first?" % (conv.name, weights_op))
        return None
    weights = values_from_const(weights_op)
    channels = weights.shape[3] if conv.op == "Conv2D" else weights.shape[2] * weights.shape[3]
    values = {}
    for name in ("mean", "var", "beta", "gamma"):
        constant = inputs[name + "_op"]
        if constant.op != "Const":
            tf_logging.warning("Didn't find expected %s Constant input to '%s', found %s instead. Maybe because "
                               "freeze_graph wasn't run first?" % (name, node.name, constant))
            return None
        values[name] = values_from_const(constant)
        if values[name].shape != (channels,):
            tf_logging.warning("Incorrect shape for %s, found %s, expected %s, for node %s" %
                               (name, values[name].shape, (channels,), node.name))
            return None
    return inputs, weights_op, weights, values


def fold_batch_norms(input_graph_def):
    """Multiplies the weights of convolutions with what batch normalization behind them scales by."""
    nodes = _by_name(input_graph_def)
    skipped = set()
    folded = graph_pb2.GraphDef()
    for node in input_graph_def.node:
        found = _parameters(node, nodes) if node.op in INPUT_ORDER else None
        if found is None:
            continue
        inputs, weights_op, weights, values = found
        conv = inputs["conv_op"]
        skipped.update([node.name, weights_op.name] + [op.name for op in inputs.values()])
        scale = 1.0 / np.sqrt(values["var"] + node.attr[EPSILON_ATTR[node.op]].f)
        if scale_after_normalization(node):
            scale = scale * values["gamma"]
        offset = (-values["mean"] * scale + values["beta"]).astype(values["mean"].dtype)
        by_output = scale if conv.op == "Conv2D" else scale.reshape(weights.shape[2:])
        _set_const(folded.node.add(), weights_op.name, (weights * by_output).astype(weights.dtype),
                   weights_op.attr["dtype"])
        folded.node.add().CopyFrom(conv)
        offset_op = folded.node.add()
        _set_const(offset_op, conv.name + "_bn_offset", offset, inputs["mean_op"].attr["dtype"])
        bias = folded.node.add(op="BiasAdd", name=node.name)
        bias.attr["T"].CopyFrom(conv.attr["T"])
        bias.attr["data_format"].CopyFrom(conv.attr["data_format"])
        bias.input.extend([conv.name, offset_op.name])
    result = graph_pb2.GraphDef()
    result.node.extend(node for node in input_graph_def.node if node.name not in skipped)
    result.node.extend(folded.node)
    return result


def fuse_resize_and_conv(input_graph_def, output_node_names):
    """Makes one node of a resizing, padding or both, and the convolution behind it."""
    nodes = _by_name(input_graph_def)
    uses = collections.Counter(node_name_from_input(text) for node in input_graph_def.node for text in node.input)
    uses.update(output_node_names)
    fused = graph_pb2.GraphDef()
    for conv in input_graph_def.node:
        if conv.op != "Conv2D":
            continue
        source = node_from_map(nodes, conv.input[0])
        pad = source if source.op == "MirrorPad" else None
        resize = node_from_map(nodes, pad.input[0]) if pad else source
        if resize.op != "ResizeBilinear":
            resize = None
        if not pad and not resize:
            continue
        uses[conv.name] = 0
        for replaced in (pad, resize):
            if replaced:
                uses[replaced.name] -= 1
        if pad:
            paddings, mode = pad.input[1], pad.attr["mode"].s
        else:
            constant = fused.node.add()
            constant.attr["dtype"].type = dtypes.int32.as_datatype_enum
            constant.op, constant.name = "Const", conv.name + "_dummy_paddings"
            constant.attr["value"].tensor.CopyFrom(tensor_util.make_tensor_proto([0] * 8, dtypes.int32, [4, 2]))
            paddings, mode = constant.name, b"REFLECT"
        made = fused.node.add(op="FusedResizeAndPadConv2D" if resize else "FusedPadConv2D", name=conv.name)
        if resize:
            made.input.extend([resize.input[0], resize.input[1], paddings, conv.input[1]])
            made.attr["resize_align_corners"].CopyFrom(resize.attr["align_corners"])
        else:
            made.input.extend([pad.input[0], paddings, conv.input[1]])
        for attribute in ("T", "strides", "padding"):
            made.attr[attribute].CopyFrom(conv.attr[attribute])
        made.attr["mode"].s = mode
    result = graph_pb2.GraphDef()
    result.node.extend(node for node in input_graph_def.node if uses[node.name] >= 1)
    result.node.extend(fused.node)
    return result
