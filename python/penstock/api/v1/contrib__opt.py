"""tf.contrib.opt."""
FROM = {"contrib.opt.adamax": "AdaMaxOptimizer"}
