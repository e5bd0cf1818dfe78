"""tf.contrib.slim.nets: image classifiers. Names of variables and end points are those of their public checkpoints."""
