"""Transforms that make one node of a resizing, a padding, or both, and the convolution behind them."""
import numpy as np

from penstock.proto import node_def_pb2
from penstock._src.tools.graph_transforms.context import constant_node, copied, plain_input


def _only_reader(nodes, context, node, op):
    """What a node's first input comes from, if that is such an op which nobody else reads; else None."""
    source = nodes.source(node, 0)
    if source is None or source.op != op or plain_input(node.input[0]) != source.name:
        return None
    return source if nodes.uses(source.name) == 1 and source.name not in context.output_nodes else None


def _fused(graph_def, context, pads, resizes):
    """A graph whose convolutions behind a MirrorPad, a ResizeBilinear, or the one behind the other, do that too."""
    made, nodes = copied(graph_def)
    for conv in [node for node in made.node if node.op == "Conv2D"]:
        pad = _only_reader(nodes, context, conv, "MirrorPad") if pads else None
        before = pad if pads else conv
        resize = _only_reader(nodes, context, before, "ResizeBilinear") if resizes and before is not None else None
        if (pads and pad is None) or (resizes and resize is None):
            continue
        first = resize if resizes else pad
        fused = node_def_pb2.NodeDef(op="FusedResizeAndPadConv2D" if resizes else "FusedPadConv2D", name=conv.name)
        fused.input.extend(first.input[:2] if resizes else first.input[:1])
        if pads:
            fused.input.append(pad.input[1])
            fused.attr["mode"].CopyFrom(pad.attr["mode"])
        else:
            nodes.put(constant_node(conv.name + "_dummy_paddings", np.zeros([4, 2], np.int32)))
            fused.input.append(conv.name + "_dummy_paddings")
            fused.attr["mode"].s = b"REFLECT"
        fused.input.append(conv.input[1])
        if resizes:
            fused.attr["resize_align_corners"].CopyFrom(resize.attr["align_corners"])
        for name in ("T", "padding", "strides"):
            fused.attr[name].CopyFrom(conv.attr[name])
        for replaced in (pad, resize):
            if replaced is not None:
                del nodes.by_name[replaced.name]
        nodes.put(fused)
    return nodes.graph_def()


def fuse_pad_and_conv(graph_def, context):
    """With a FusedPadConv2D in place of each MirrorPad and the convolution behind it."""
    return _fused(graph_def, context, pads=True, resizes=False)


def fuse_resize_and_conv(graph_def, context):
    """With a FusedResizeAndPadConv2D in place of each ResizeBilinear and the convolution behind it."""
    return _fused(graph_def, context, pads=False, resizes=True)


def fuse_resize_pad_and_conv(graph_def, context):
    """With a FusedResizeAndPadConv2D in place of each ResizeBilinear, MirrorPad and convolution in a row."""
    return _fused(graph_def, context, pads=True, resizes=True)


TRANSFORMS = {function.__name__: function for function in (
    fuse_pad_and_conv, fuse_resize_and_conv, fuse_resize_pad_and_conv)}
