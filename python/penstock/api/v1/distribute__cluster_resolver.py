"""tf.distribute.cluster_resolver."""
FROM = {
    "distribute.cluster_resolver": "SlurmClusterResolver=SlurmClusterResolverV1",
}
