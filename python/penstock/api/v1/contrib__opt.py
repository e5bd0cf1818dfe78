"""tf.contrib.opt."""
FROM = {
    "contrib.opt.adamax": "AdaMaxOptimizer",
    "contrib.opt.external": "ExternalOptimizerInterface ScipyOptimizerInterface",
    "contrib.opt.lazy_adam": "LazyAdamOptimizer",
    "contrib.opt.moving_average": "MovingAverageOptimizer",
    "contrib.opt.nadam": "NadamOptimizer",
    "contrib.opt.variable_clipping": "VariableClippingOptimizer",
    "contrib.opt.weight_decay": """
        AdamWOptimizer DecoupledWeightDecayExtension MomentumWOptimizer extend_with_decoupled_weight_decay""",
}
