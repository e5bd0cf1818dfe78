"""tf.contrib.slim.learning."""
FROM = {
    "contrib.slim.learning": """
        add_gradients_summaries clip_gradient_norms create_train_op multiply_gradients train train_step""",
}
NAMES = {"supervisor": "training.supervisor", "tf_optimizer": "training.optimizer", "tf_saver": "checkpoint.saver"}
