"""Folding of batch norms of single operations, which are found by the names that tf.contrib.layers gives them."""
import re

from penstock._src.contrib.quantize import common
from penstock._src.contrib.quantize import input_to_ops
from penstock._src.contrib.quantize.fold_batch_norms import Norm, clone_layer, corrections_of
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.state import variable_scope

_ACTIVATIONS = ("Relu6", "Relu", "Identity")


def fold(graph, is_training, freeze_batch_norm_delay):
    """Folds all of them, in place. ValueError if a layer or the activation behind it is of an unknown kind."""
    users = input_to_ops.InputToOps(graph)
    for context in common.BatchNormGroups(graph):
        rsqrt = graph.get_operation_by_name(context + "BatchNorm/batchnorm_1/Rsqrt")
        has_scaling = sum(op.type == "Mul" for op in users.ConsumerOperations(rsqrt)) == 1
        shifted = graph.get_operation_by_name(context + "BatchNorm/batchnorm_1/add_1")
        if not shifted.outputs[0].consumers():
            continue  # a fused one has been folded
        folded = _fold(graph, context, shifted, has_scaling, freeze_batch_norm_delay, is_training)
        behind = _activation(graph, context)
        if behind is None:  # a sum with another branch, then
            scope = re.search(r"^(.*)/([^/]+)", context)
            behind = graph.get_operation_by_name((scope.group(1) + "/" if scope else "") + "AddV2")
        if common.RerouteTensor(folded, shifted.outputs[0], can_modify=[behind]) != 1:
            raise ValueError("Unexpected inputs to op: %s" % behind.name)


def _activation(graph, context):
    for suffix in _ACTIVATIONS:
        try:
            return graph.get_operation_by_name(context + suffix)
        except KeyError:
            pass
    return None


def _fold(graph, context, shifted, has_scaling, freeze_batch_norm_delay, is_training):
    scaled = graph.get_operation_by_name(context + "BatchNorm/batchnorm_1/" + ("mul_1" if has_scaling else "mul"))
    layer, spread = scaled.inputs[0].op, None
    if layer.type == "BatchToSpaceND":
        layer, spread = layer.inputs[0].op, layer
    weights, scale = layer.inputs[1], scaled.inputs[1]
    norm = _parameters(graph, context, has_scaling)
    corrections = corrections_of(norm, context, freeze_batch_norm_delay) if is_training else None
    depthwise = layer.type == "DepthwiseConv2dNative"
    if depthwise:
        shape = weights.get_shape().as_list()[2:4]
        scale = graph.get_operation_by_name(context + "BatchNorm/batchnorm_1/" + ("mul" if has_scaling else "Rsqrt"))
        scale = array_ops.reshape(scale.outputs[0], shape, context + "scale_reshape")
        if corrections is not None:
            corrections[0] = array_ops.reshape(corrections[0], shape, context + "correction_reshape")
    elif layer.type not in ("Conv2D", "MatMul"):
        raise ValueError("Cannot handle operation of type: %s" % layer.type)
    if corrections is not None:
        with ops.device(scaled.device):
            weights = math_ops.multiply(corrections[0], weights, context + "correction_mult")
    weights = math_ops.multiply(weights, scale, name=context + "mul_fold")
    result = clone_layer(layer, layer.inputs[0], weights, layer.name + "_Fold")
    device = result.op.device
    if spread is not None:
        result = gen.batch_to_space_nd(result, spread.inputs[1], spread.inputs[2], name=spread.name + "_Fold")
    if corrections is not None:
        with ops.device(device):
            result = math_ops.multiply(corrections[1], result, context + "post_conv_mul")
            result = math_ops.add(result, corrections[2], context + "correction_add")
    return math_ops.add(result, shifted.inputs[1], name=context + "add_fold")


def _parameters(graph, context, has_scaling):
    resources = variable_scope.get_variable_scope().use_resource
    read = "/Read/ReadVariableOp" if resources else "/read"

    def find(suffix):
        return _find_tensor(graph, "BatchNorm/" + suffix, context)

    fields = dict.fromkeys(Norm._fields)
    fields.update(mean=find("moments/Squeeze"), variance=find("moments/Squeeze_1"),
                  moving_mean=find("moving_mean" + read), moving_variance=find("moving_variance" + read),
                  epsilon=find("batchnorm_1/add/y"), mean_decay=find("AssignMovingAvg/decay"),
                  variance_decay=find("AssignMovingAvg_1/decay"))
    if has_scaling:
        fields["gamma"] = find("gamma/Read/ReadVariableOp" if resources else "gamma")
    else:
        fields["gamma"] = array_ops.ones(fields["moving_mean"].shape)
    return Norm(**fields)


def _find_tensor(graph, suffix, context):
    """The tensor with that end of a name which has most scopes in common with a context; None if there is none."""
    scopes = set(context.split("/"))
    found = {}
    for op in graph.get_operations():
        if op.name.endswith(suffix):
            common_scopes = len(set(op.name.split("/")) & scopes)
            if common_scopes or not context:
                found[op] = common_scopes
    return max(found, key=found.get).outputs[0] if found else None
