"""tf: conditionals and loops."""
FROM = {
    "control_flow.cond": "case cond",
    "control_flow.functional_ops": "foldl foldr scan",
    "control_flow.map_fn": "map_fn",
    "parallel_for.control_flow_ops": "vectorized_map",
    "control_flow.switch_case": "switch_case",
    "control_flow.while_loop": "while_loop",
    "control_flow.tensor_array_ops": "TensorArray",
}
