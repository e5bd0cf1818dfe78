"""tf: conditionals and loops."""
FROM = {
    "ops.cond": "case cond",
    "ops.while_loop": "while_loop",
    "ops.tensor_array_ops": "TensorArray",
}
