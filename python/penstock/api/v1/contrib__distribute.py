"""tf.contrib.distribute."""
FROM = {
    "contrib.distribute.strategies": """
        AllReduceCrossDeviceOps DistributeConfig MirroredStrategy require_replica_context""",
    "distribute.cross_device_ops": "CrossDeviceOps ReductionToOneDeviceCrossDeviceOps=ReductionToOneDevice",
    "distribute.distribute_lib": """
        DistributionStrategy=Strategy InputReplicationMode ReplicaContext get_loss_reduction""",
    "distribute.distribution_strategy_context": """
        get_cross_replica_context get_distribution_strategy=get_strategy get_replica_context get_strategy
        has_distribution_strategy=has_strategy has_strategy in_cross_replica_context""",
    "distribute.one_device_strategy": "OneDeviceStrategy",
}
