"""tf.contrib.factorization."""
FROM = {
    "contrib.factorization.clustering_ops": """
        COSINE_DISTANCE KMEANS_PLUS_PLUS_INIT KMeans RANDOM_INIT SQUARED_EUCLIDEAN_DISTANCE""",
}
