"""tf.contrib.cluster_resolver."""
FROM = {
    "distribute.cluster_resolver": """
        ClusterResolver SimpleClusterResolver SlurmClusterResolver=SlurmClusterResolverV1
        TFConfigClusterResolver TPUClusterResolver UnionClusterResolver""",
}
