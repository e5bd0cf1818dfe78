"""Rewriting graphs for quantization: folding of batch norms, then a range for weights and activations."""
from penstock._src.contrib.quantize import fold_batch_norms
from penstock._src.contrib.quantize import quantize
from penstock._src.graph import ops


def create_training_graph(input_graph=None, quant_delay=0):
    """Rewrites a graph (the default one if it is None), in place, for training with simulated quantization.

    Batch norms are folded into the weights before them; weights and activations are rounded, after `quant_delay` steps.
    To be called before gradients are: ValueError if the graph trains already.
    """
    _rewrite(input_graph, is_training=True, quant_delay=quant_delay)


def create_eval_graph(input_graph=None):
    """Rewrites a graph (the default one if it is None), in place, for evaluation of what was trained so."""
    _rewrite(input_graph, is_training=False)


def experimental_create_training_graph(input_graph=None, weight_bits=8, activation_bits=8, symmetric=False,
                                       quant_delay=0, freeze_bn_delay=None, scope=None):
    """create_training_graph for other numbers of bits.

    symmetric: whether ranges are the same on both sides of 0. freeze_bn_delay: the step from which moving averages of
    batch norms are used and stay as they are. scope: the name scope that is quantized; all by default.
    """
    _rewrite(input_graph, is_training=True, weight_bits=weight_bits, activation_bits=activation_bits,
             symmetric=symmetric, quant_delay=quant_delay, freeze_bn_delay=freeze_bn_delay, scope=scope)


def experimental_create_eval_graph(input_graph=None, weight_bits=8, activation_bits=8, symmetric=False,
                                   quant_delay=None, scope=None):
    """create_eval_graph for other numbers of bits; as experimental_create_training_graph."""
    _rewrite(input_graph, is_training=False, weight_bits=weight_bits, activation_bits=activation_bits,
             symmetric=symmetric, quant_delay=quant_delay, scope=scope)


def _rewrite(graph, is_training, weight_bits=8, activation_bits=8, symmetric=False, quant_delay=None,
             freeze_bn_delay=None, scope=None):
    graph = ops.get_default_graph() if graph is None else graph
    training = {op.type for op in graph.get_operations() if "Apply" in op.type}
    if training:
        raise ValueError("Training op found in graph, exiting %s" % training)
    with graph.as_default():
        fold_batch_norms.FoldBatchNorms(graph, is_training, freeze_bn_delay)
        quantize.Quantize(graph, is_training, weight_bits=weight_bits, activation_bits=activation_bits,
                          symmetric=symmetric, quant_delay=quant_delay, scope=scope)
