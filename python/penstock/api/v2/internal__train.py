"""tf.__internal__.train."""
FROM = {
    "checkpoint.checkpoint_management": "update_checkpoint_state",
    "training.experimental.mixed_precision":
        "is_mixed_precision_graph_rewrite_enabled set_using_mixed_precision_policy",
    "training.moving_averages": "assign_moving_average",
}
