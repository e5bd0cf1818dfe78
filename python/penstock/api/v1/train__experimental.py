"""tf.train.experimental."""
FROM = {
    "training.experimental.loss_scale": "DynamicLossScale FixedLossScale LossScale",
    "training.experimental.loss_scale_optimizer": "MixedPrecisionLossScaleOptimizer",
    "training.experimental.mixed_precision": """
        disable_mixed_precision_graph_rewrite enable_mixed_precision_graph_rewrite""",
}
