"""tf.contrib.tensorboard.plugins.projector."""
FROM = {
    "contrib.projector": "visualize_embeddings",
    "proto": "EmbeddingInfo ProjectorConfig SpriteMetadata",
}
