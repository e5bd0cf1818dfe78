"""Which weights and activations of a graph are quantized, and how that is put in."""
import collections

from penstock._src.contrib.quantize import common
from penstock._src.contrib.quantize import input_to_ops
from penstock._src.contrib.quantize import quant_ops
from penstock._src.contrib.quantize.graph_matcher import GraphMatcher, OneofPattern, OpTypePattern
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.control_flow import cond as cond_lib
from penstock._src.base import tf_logging

_LAYERS = "Conv2D|MatMul|DepthwiseConv2dNative"
_ADDS = "Add|AddV2"
_ACTIVATIONS = ("Relu", "Relu6", "Identity")
_RELUS = ("Relu", "Relu6")
_FAKE_QUANTS = ("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVarsPerChannel")
_ARITHMETIC = ("Add", "AddV2", "Mul")
_PASSING = ("Reshape", "Identity", "BatchToSpaceND", "SpaceToBatchND", "MaxPool", "Max")

# A layer, its weights, what follows it, the sum with another branch before or behind that, and its bias.
Layer = collections.namedtuple("Layer", "op weights activation bypass post_activation_bypass bias_add")


def Quantize(graph, is_training, weight_bits=8, activation_bits=8, symmetric=False, ema_decay=0.999,  # noqa: N802
             quant_delay=None, vars_collection=ops.GraphKeys.GLOBAL_VARIABLES, scope=None):
    """Puts fake quantization behind the weights of layers and behind activations, in place.

    Variables of ranges are added to `vars_collection`; only operations below the name scope `scope` are looked at.
    ValueError if an activation is used by nobody that can be changed.
    """
    if scope and not scope.endswith("/"):
        scope += "/"
    users = input_to_ops.InputToOps(graph)
    put = _Inserter(is_training, symmetric, ema_decay, quant_delay, vars_collection, scope)
    done = set()
    consumers = users.ConsumerOperations
    for layer in _find_layers(graph):
        context = layer.op.name.rpartition("/")[0]
        if layer.weights is not None:
            put.behind(layer.weights.op, consumers(layer.weights.op), context, "weights_quant", weight_bits,
                       weights=True, check="consumers")
        around = context.rpartition("/")[0] if layer.bypass is not None and "/" in context else \
            "" if layer.bypass is not None else context
        if layer.activation is not None:
            put.behind(layer.activation, consumers(layer.activation), around, "act_quant", activation_bits,
                       init_min=0.0, check="producer")
            done.add(layer.activation)
        if layer.bypass is not None:
            put.behind(layer.bias_add, consumers(layer.bias_add), context, "conv_quant", activation_bits)
            done.add(layer.bias_add)
            if not _leads_to(consumers(layer.bypass), _ACTIVATIONS, layer.bypass):
                put.behind(layer.bypass, consumers(layer.bypass), around, "add_quant", activation_bits)
                done.add(layer.bypass)
        last = layer.post_activation_bypass
        if last is not None and not _leads_to(consumers(last), _RELUS, last):
            put.behind(last, consumers(last), last.name.rpartition("/")[0], "post_activation_bypass_quant",
                       activation_bits, check="producer")
            done.add(last)
    consumers = input_to_ops.InputToOps(graph).ConsumerOperations
    put.symmetric = False
    for op in graph.get_operations():
        if _is_quantizable(op, done):
            put.behind(op, consumers(op), op.name, "activation_" + op.type + "_quant", activation_bits,
                       check="producer")


def _leads_to(users, types, op):
    found = any(user.type in types for user in users)
    if found:
        tf_logging.info("Skipping %s, because its followed by an activation.", op.name)
    return found


class _Inserter:
    """Puts quantization behind operations, all in the same way."""

    def __init__(self, is_training, symmetric, ema_decay, quant_delay, vars_collection, scope):
        self.is_training, self.symmetric, self.ema_decay = is_training, symmetric, ema_decay
        self.quant_delay, self.vars_collection, self.scope = quant_delay, vars_collection, scope

    def behind(self, producer, users, context, name, bits, weights=False, init_min=-6.0, check="both"):
        """Gives `users` the quantized output of `producer`. check: what must be in the scope that is quantized."""
        if self.scope:
            checked = ([producer] if check != "consumers" else []) + (list(users) if check != "producer" else [])
            outside = [op.name for op in checked if not op.name.startswith(self.scope)]
            if outside:
                tf_logging.info("%s is not quantized, because %s is not in scope %s", context, outside[0], self.scope)
                return
        inputs = producer.outputs[0]
        if _is_quantized(inputs):
            return
        prefix = context + "/" + name if context else name
        current = ops.get_name_scope()
        if current:
            prefix = prefix[len(current) + 1:] if prefix.startswith(current + "/") else prefix
        options = dict(init_min=init_min, is_training=self.is_training, num_bits=bits, symmetric=self.symmetric,
                       narrow_range=weights, vars_collection=self.vars_collection, name_prefix=prefix)
        if weights:
            quantized = quant_ops.LastValueQuantize(inputs, **options)
        else:
            quantized = quant_ops.MovingAvgQuantize(inputs, ema_decay=self.ema_decay, **options)
        if self.quant_delay and self.quant_delay > 0:
            active = gen.greater_equal(common.CreateOrGetQuantizationStep(), self.quant_delay,
                                       name=prefix + "/activate_quant")
            quantized = cond_lib.cond(active, lambda quantized=quantized: quantized, lambda: inputs,
                                      name=prefix + "/delayed_quant")
        if users and common.RerouteTensor(quantized, inputs, can_modify=users) < len(users):
            raise ValueError("No inputs quantized for ops: [%s]" % ", ".join(user.name for user in users))


def _is_quantized(tensor):
    """Whether quantization follows, perhaps behind reshapes."""
    users = tensor.consumers()
    while users:
        op = users.pop()
        if op.type in _FAKE_QUANTS:
            return True
        if op.type in ("Reshape", "Identity"):
            users += [user for y in op.outputs for user in y.consumers()]
    return False


def _is_quantizable(op, done):
    """Whether it is a sum or product of something quantized, and not quantized itself."""
    if op in done or op.type not in _ARITHMETIC:
        return False
    users = op.outputs[0].consumers()
    if len(users) == 1 and users[0].type in _RELUS:
        return False
    for x in op.inputs:
        source = x.op
        while source.type in _PASSING:
            source = source.inputs[0].op
        if source.type == "FakeQuantWithMinMaxVars" or source.name.find("delayed_quant/Merge") > 0:
            return True
        if source.type in _ARITHMETIC and any(_is_quantizable(y.op, done) for y in source.inputs):
            return True
    return False


def _find_layers(graph):
    """The Layers of a graph, each once, those with most behind them first."""
    variable = OpTypePattern("Variable|VariableV2")
    partition = OpTypePattern("Identity", inputs=[variable])
    partitioned = OpTypePattern("ConcatV2", inputs=[partition, "*", "*"])
    read = OpTypePattern("Identity", inputs=[OneofPattern([partition, partitioned, variable])])
    resource_read, folded_weights = OpTypePattern("ReadVariableOp"), OpTypePattern("Mul")
    layer = OpTypePattern(_LAYERS, inputs=["*", OneofPattern([read, resource_read, folded_weights])],
                          ordered_inputs=False)
    output = OneofPattern([OpTypePattern("BatchToSpaceND", inputs=[layer, "*", "*"]), layer])
    separable = OpTypePattern(_LAYERS, inputs=[OneofPattern([output]), "*"], ordered_inputs=False)
    corrected = OpTypePattern("Mul", inputs=["*", output], ordered_inputs=False)
    corrected = OpTypePattern(_ADDS, inputs=[corrected, "*"], ordered_inputs=False)
    folded_bias = OpTypePattern(_ADDS, inputs=[corrected, "*"], ordered_inputs=False)
    norm_identity = OpTypePattern("Identity", inputs=[folded_bias])
    bias = OpTypePattern(_ADDS + "|BiasAdd", inputs=[output, "*"], ordered_inputs=False)
    bypass = OpTypePattern(_ADDS, inputs=[OneofPattern([bias, folded_bias, norm_identity]), "*"], ordered_inputs=False)
    activation = OpTypePattern("|".join(_ACTIVATIONS),
                               inputs=[OneofPattern([bias, folded_bias, norm_identity, bypass, layer])])
    post_bypass = OpTypePattern(_ADDS, inputs=["*", activation], ordered_inputs=False)

    found = {}

    def first(match, *patterns, get="get_op"):
        return next((x for x in (getattr(match, get)(pattern) for pattern in patterns) if x is not None), None)

    def collect(pattern, read_rest, weights=(read, resource_read, folded_weights)):
        for match in GraphMatcher(pattern).match_graph(graph):
            op = match.get_op(layer)
            if op not in found:
                rest = read_rest(match)
                if rest is not None:
                    found[op] = Layer(op, first(match, *weights, get="get_tensor"), *rest)

    def with_activation(match):
        op = match.get_op(activation)
        if _feeds_batch_norm(op):
            return None
        return op, match.get_op(bypass), None, first(match, bias, folded_bias)

    collect(post_bypass, lambda match: (match.get_op(activation), match.get_op(bypass), match.get_op(post_bypass),
                                        first(match, bias, folded_bias)))
    collect(activation, with_activation)
    collect(OneofPattern([bias, folded_bias]), lambda match: (first(match, bias, folded_bias), None, None, None))
    collect(separable, lambda match: (match.get_op(layer), None, None, None), weights=(read, resource_read))
    return list(found.values())


def _feeds_batch_norm(op):
    users = op.outputs[0].consumers() if op.type == "Identity" else ()
    return len(users) == 1 and users[0].type in ("FusedBatchNorm", "FusedBatchNormV3")
