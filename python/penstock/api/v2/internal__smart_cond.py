"""tf.__internal__.smart_cond."""
FROM = {
    "control_flow.smart_cond": "smart_cond",
}
