"""tf: conditionals and loops."""
FROM = {
    "control_flow.cond": "cond",
    "control_flow.map_fn": "map_fn",
    "control_flow.while_loop": "while_loop",
}
