"""tf.distribute.cluster_resolver."""
FROM = {
    "distribute.cluster_resolver": """
        ClusterResolver SimpleClusterResolver SlurmClusterResolver TFConfigClusterResolver TPUClusterResolver
        UnionResolver=UnionClusterResolver""",
}
