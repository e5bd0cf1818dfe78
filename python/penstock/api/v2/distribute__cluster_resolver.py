"""tf.distribute.cluster_resolver."""
FROM = {
    "distribute.cluster_resolver": """
        ClusterResolver SimpleClusterResolver SlurmClusterResolver=SlurmClusterResolverV2
        TFConfigClusterResolver TPUClusterResolver UnionResolver=UnionClusterResolver""",
}
