"""tf.distribute."""
FROM = {
    "distribute.cross_device_ops": """
        CrossDeviceOps HierarchicalCopyAllReduce NcclAllReduce ReductionToOneDevice""",
    "distribute.distribute_lib": """
        InputContext InputReplicationMode ReplicaContext RunOptions Strategy StrategyExtended get_loss_reduction""",
    "distribute.distribution_strategy_context": """
        experimental_set_strategy get_replica_context get_strategy has_strategy in_cross_replica_context""",
    "distribute.mirrored_strategy": "MirroredStrategy",
    "distribute.one_device_strategy": "OneDeviceStrategy",
    "distribute.reduce_util": "ReduceOp",
    "session.server_lib": "Server",
}
