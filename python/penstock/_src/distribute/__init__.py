"""Clusters: who takes part. Strategies: where the replicas of a model run. Also tf.distribute of version 2."""
