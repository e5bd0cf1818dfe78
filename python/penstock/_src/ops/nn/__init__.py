"""Neural networks: convolutions, pools, activations, losses, embeddings."""
