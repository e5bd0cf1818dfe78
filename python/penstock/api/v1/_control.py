"""tf: conditionals and loops."""
FROM = {
    "ops.cond": "case cond",
    "ops.functional_ops": "foldl foldr scan",
    "ops.map_fn": "map_fn",
    "ops.parallel_for.control_flow_ops": "vectorized_map",
    "ops.switch_case": "switch_case",
    "ops.while_loop": "while_loop",
    "ops.tensor_array_ops": "TensorArray",
}
