"""tf.quantization"""
FROM = {
    "core_ops.array_ops": "dequantize quantize quantize_and_dequantize quantize_and_dequantize_v2",
    "graph.gen": """
        fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient
        fake_quant_with_min_max_vars fake_quant_with_min_max_vars_gradient
        fake_quant_with_min_max_vars_per_channel fake_quant_with_min_max_vars_per_channel_gradient
        quantized_concat""",
}
