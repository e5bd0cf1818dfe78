"""Variables, their scopes and initializers; what checkpoints track."""
