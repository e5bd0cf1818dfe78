"""tf.distribute.experimental.coordinator."""
FROM = {"distribute.distribute_types": "ClusterCoordinator RemoteValue"}
