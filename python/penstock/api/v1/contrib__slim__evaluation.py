"""tf.contrib.slim.evaluation."""
FROM = {"contrib.slim.evaluation": "checkpoints_iterator evaluate_once evaluation_loop wait_for_new_checkpoint"}
NAMES = {"evaluation": "contrib.training.evaluation"}
