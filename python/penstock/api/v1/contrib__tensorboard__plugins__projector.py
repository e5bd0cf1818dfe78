"""tf.contrib.tensorboard.plugins.projector."""
FROM = {
    "contrib.projector": "visualize_embeddings",
    "penstock.proto": "EmbeddingInfo ProjectorConfig SpriteMetadata",
}
