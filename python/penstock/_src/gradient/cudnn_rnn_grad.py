"""Gradients of cuDNN's recurrent ops: functions for GPUs are built, and differentiated, on machines without one too."""
from penstock._src.graph import ops
from penstock._src.graph.definitions import op_functions


def _register(version):
    @ops.RegisterGradient("CudnnRNN" + version)
    def gradient(op, *grads):
        if not op.get_attr("is_training"):
            raise ValueError(f"To use {op.type} in gradients, is_training must be set to True.")
        kept = ["dropout", "seed", "seed2", "rnn_mode", "input_mode", "direction"]
        if version == "V3":
            kept += ["time_major", "num_proj"]
        backprop = op_functions.function("CudnnRNNBackprop" + version)
        found = backprop(*op.inputs, *op.outputs[:3], *grads[:3], *op.outputs[3:],
                         **{name: op.get_attr(name) for name in kept})
        return [*found, *[None] * (len(op.inputs) - len(found))]


for _version in ("", "V2", "V3"):
    _register(_version)
