"""tf.__internal__.distribute.interim."""
FROM = {
    "distribute.distribution_strategy_context": "maybe_merge_call",
}
