"""tf.contrib.cluster_resolver."""
FROM = {
    "distribute.cluster_resolver": """
        ClusterResolver SimpleClusterResolver SlurmClusterResolver TFConfigClusterResolver TPUClusterResolver
        UnionClusterResolver""",
}
