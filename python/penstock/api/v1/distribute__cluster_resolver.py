"""tf.distribute.cluster_resolver."""
FROM = {
    "distribute.cluster_resolver": """
        ClusterResolver SimpleClusterResolver SlurmClusterResolver=SlurmClusterResolverV1
        TFConfigClusterResolver TPUClusterResolver UnionResolver=UnionClusterResolver""",
}
