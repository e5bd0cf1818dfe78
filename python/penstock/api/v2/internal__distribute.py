"""tf.__internal__.distribute."""
FROM = {
    "distribute.distribute_types": "ShardedVariable",
    "distribute.distribution_strategy_context": "strategy_supports_no_merge_call variable_sync_on_read_context",
}
