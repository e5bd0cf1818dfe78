"""Batch norms become part of the weights of the layer before them, in training too (https://arxiv.org/abs/1806.08342).

In training the weights are scaled by the moving averages, so that their quantization does not change from batch to
batch, and the result is corrected to what the batch's own mean and variance would give.
"""
import collections

from penstock._src.contrib.layers import utils
from penstock._src.contrib.quantize import common
from penstock._src.contrib.quantize.graph_matcher import GraphMatcher, OneofPattern, OpTypePattern
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_impl
from penstock._src.ops.nn import nn_conv
from penstock._src.base import tf_logging
from penstock.proto import attr_value_pb2

# A batch norm: what it takes, the averages that its batch's mean and variance move, and by which decay they do.
Norm = collections.namedtuple("Norm", """layer op output input weights gamma beta mean variance moving_mean
                                         moving_variance mean_decay variance_decay epsilon batch_to_space""")


def FoldBatchNorms(graph, is_training, freeze_batch_norm_delay=None):  # noqa: N802
    """Folds all batch norms of a graph, in place, that follow a convolution or a matrix product.

    freeze_batch_norm_delay: the step from which on the moving averages are used, None for never.
    """
    from penstock._src.contrib.quantize import unfused_batch_norms
    for norm in _find_fused(graph):
        _fold_fused(graph, norm, freeze_batch_norm_delay)
    unfused_batch_norms.fold(graph, is_training, freeze_batch_norm_delay)


def _fold_fused(graph, norm, freeze_batch_norm_delay):
    scope, slash, _ = norm.layer.name.rpartition("/")
    with graph.as_default(), graph.name_scope(scope + slash):
        corrections = None
        with graph.name_scope(scope + slash + "BatchNorm_Fold" + slash):
            multiplier = norm.gamma * gen.rsqrt(norm.variance + norm.op.get_attr("epsilon"))
            bias = math_ops.subtract(norm.beta, norm.mean * multiplier, name="bias")
            if norm.op.get_attr("is_training"):
                corrections = corrections_of(norm, "", freeze_batch_norm_delay)
            if norm.layer.type == "DepthwiseConv2dNative":
                shape = norm.weights.get_shape().as_list()[2:4]
                multiplier = array_ops.reshape(multiplier, shape, name="scale_reshape")
                if corrections is not None:
                    corrections[0] = array_ops.reshape(corrections[0], shape, name="correction_reshape")
        weights = norm.weights
        if corrections is not None:
            weights = math_ops.multiply(corrections[0], weights, name="correction_mult")
        weights = math_ops.multiply(weights, multiplier, name="mul_fold")
        result = _layer_with(norm, weights)
        if corrections is not None:
            result = math_ops.multiply(corrections[1], result, name="post_conv_mul")
            result = math_ops.add(result, corrections[2], "correction_add")
        result = math_ops.add(result, bias, name="add_fold")
        if common.RerouteTensor(result, norm.output) == 0:
            raise ValueError("Folding batch norms failed, %s had no outputs." % norm.output.name)


def _layer_with(norm, weights):
    """The layer with other weights, and the BatchToSpaceND behind a depthwise convolution."""
    layer, name = norm.layer, norm.layer.name.rpartition("/")[2] + "_Fold"
    result = clone_layer(layer, norm.input, weights, name)
    if norm.batch_to_space is not None and layer.type == "DepthwiseConv2dNative":
        spread = layer.outputs[0].consumers()[0]
        result = gen.batch_to_space_nd(result, spread.inputs[1], spread.inputs[2],
                                       name=spread.name.rpartition("/")[2] + "_Fold")
    return result


def clone_layer(layer, inputs, weights, name):
    """A convolution or matrix product like another one. ValueError for any other operation."""
    if layer.type == "Conv2D":
        return nn_conv.conv2d(inputs, weights, strides=layer.get_attr("strides"), padding=layer.get_attr("padding"),
                              use_cudnn_on_gpu=layer.get_attr("use_cudnn_on_gpu"),
                              data_format=layer.get_attr("data_format").decode(), name=name)
    if layer.type == "MatMul":
        return math_ops.matmul(inputs, weights, transpose_a=layer.get_attr("transpose_a"),
                               transpose_b=layer.get_attr("transpose_b"), name=name)
    if layer.type == "DepthwiseConv2dNative":
        return nn_impl.depthwise_conv2d(inputs, weights, strides=layer.get_attr("strides"),
                                        padding=layer.get_attr("padding"), name=name)
    raise ValueError("Cannot handle operation of type: %s" % layer.type)


def _find_fused(graph):
    """The Norms of a graph's FusedBatchNorms, those before an Identity first."""
    found = {}
    patterns = _Patterns()
    for matcher in (GraphMatcher(patterns.norm_identity),
                    GraphMatcher(OneofPattern([patterns.norm_reshape, patterns.norm]))):
        for match in matcher.match_graph(graph):
            norm = patterns.read(graph, match)
            if norm is not None:
                found.setdefault(norm.layer, norm)
    return list(found.values())


class _Patterns:
    def __init__(self):
        names = "input weights gamma beta mean variance average decay".split()
        self.parts = {name: OpTypePattern("*") for name in names}
        part = self.parts
        self.layer = OpTypePattern("Conv2D|DepthwiseConv2dNative|MatMul", inputs=[part["input"], part["weights"]])
        self.batch_to_space = OpTypePattern("BatchToSpaceND", inputs=[self.layer, "*", "*"])
        identity = OpTypePattern("Identity", inputs=[OneofPattern([self.batch_to_space, self.layer])])
        layer_output = OneofPattern([identity, self.layer, self.batch_to_space])
        reshape = OpTypePattern("Reshape", inputs=[layer_output, "*"])
        self.norm = OpTypePattern(
            "FusedBatchNorm|FusedBatchNormV3",
            inputs=[OneofPattern([reshape, layer_output]),
                    *(part[name] for name in ("gamma", "beta", "mean", "variance"))])
        self.norm_reshape = OpTypePattern("Reshape", inputs=[self.norm, "*"])
        self.norm_identity = OpTypePattern("Identity", inputs=[self.norm, self.norm_reshape])
        self.difference = OpTypePattern("Sub", inputs=[part["average"], self.norm])
        self.update = OpTypePattern("Mul", inputs=[self.difference, part["decay"]])

    def read(self, graph, match):
        """The Norm of a match, or None if nothing uses it."""
        op, layer = match.get_op(self.norm), match.get_op(self.layer)
        output = op.outputs[0]
        if layer.type == "MatMul":
            reshape = match.get_op(self.norm_reshape)
            if reshape is None:
                return None
            output = reshape.outputs[0]
        if not output.consumers():
            return None
        fields = dict.fromkeys(Norm._fields)
        fields.update({name: match.get_tensor(self.parts[name])
                       for name in ("input", "weights", "gamma", "beta", "mean", "variance")})
        fields.update(layer=layer, op=op, output=output, epsilon=op.get_attr("epsilon"),
                      batch_to_space=match.get_op(self.batch_to_space))
        if op.get_attr("is_training"):
            fields.update(self._statistics(graph, op, match.get_tensor(self.layer)))
        return Norm(**fields)

    def _statistics(self, graph, op, layer_output):
        """The batch's mean and variance, and the averages that they move."""
        op._set_attr("_gradient_op_type", attr_value_pb2.AttrValue(s=b"FoldFusedBatchNormGrad"))
        fields = {"mean": op.outputs[1]}
        scope, slash, _ = op.name.rpartition("/")
        with graph.as_default(), graph.name_scope(scope + slash):
            n = math_ops.cast(array_ops.size(layer_output) / array_ops.size(op.outputs[1]), dtypes.float32)
            fields["variance"] = math_ops.multiply(op.outputs[2], (n - 1) / n, name="Undo_Bessel_Correction")
        for match in GraphMatcher(self.update).match_graph(graph):
            difference = match.get_op(self.difference)
            for output, which in ((op.outputs[1], "mean"), (op.outputs[2], "variance")):
                if difference.inputs[1] is output:
                    fields["moving_" + which] = difference.inputs[0]
                    fields[which + "_decay"] = match.get_tensor(self.parts["decay"])
        return fields


@ops.RegisterGradient("FoldFusedBatchNormGrad")
def _gradient(op, _, grad_mean, grad_variance, *__):
    """Only the batch's mean and variance are used of a folded batch norm."""
    x = op.inputs[0]
    n = math_ops.cast(array_ops.size(x) / array_ops.size(grad_mean), dtypes.float32)
    of_mean = grad_mean / n
    of_variance = 2 * grad_variance * (x - op.outputs[1]) / (n - 1)
    return of_mean + of_variance, None, None, None, None


def corrections_of(norm, context, freeze_batch_norm_delay):
    """[scale of the weights, factor of the result, offset of the result] that undo the use of moving averages."""
    graph = ops.get_default_graph()
    with graph.name_scope(context + "batch_norm_correction"):
        moving = gen.rsqrt(norm.moving_variance + norm.epsilon)
        of_batch = gen.rsqrt(norm.variance + norm.epsilon)
        scale = array_ops.identity(math_ops.divide(moving, of_batch, name="scale_compute"), name="correction_scale")
        factor = gen.reciprocal(scale, name="reciprocal_compute")
        offset = math_ops.multiply(norm.gamma, norm.mean * of_batch - norm.moving_mean * moving, name="offset_compute")
        frozen = False
        if freeze_batch_norm_delay is not None:
            tf_logging.info("freeze_batch_norm_delay: moving averages stay as they are from step %s",
                            freeze_batch_norm_delay)
            frozen = gen.greater_equal(common.CreateOrGetQuantizationStep(), freeze_batch_norm_delay,
                                       name="use_moving_average")
        for decay, which in ((norm.mean_decay, "mean"), (norm.variance_decay, "var")):
            users = decay.consumers()
            stopped = utils.smart_cond(frozen, lambda: 0.0, lambda decay=decay: decay, name="freeze_moving_" + which)
            common.RerouteTensor(stopped, decay, can_modify=users)
        factor = utils.smart_cond(frozen, lambda: array_ops.ones(scale.shape), lambda: factor, name="correction_recip")
        offset = utils.smart_cond(frozen, lambda: offset, lambda: array_ops.zeros(offset.shape),
                                  name="correction_offset")
    return [scale, factor, offset]
