"""tf.contrib.training."""
FROM = {
    "contrib.training.bucket_ops": "bucket bucket_by_sequence_length",
    "contrib.training.device_setter": "GreedyLoadBalancingStrategy RandomStrategy byte_size_load_fn",
    "contrib.training.evaluation": "SummaryAtEndHook evaluate_repeatedly",
    "contrib.training.hparam": "HParams parse_values",
    "contrib.training.training": """
        add_gradients_summaries clip_gradient_norms clip_gradient_norms_fn create_train_op multiply_gradients train""",
    "checkpoint.checkpoint_utils": "checkpoints_iterator wait_for_new_checkpoint",
    "training.evaluation": """
        StopAfterNEvalsHook=_StopAfterNEvalsHook evaluate_once=_evaluate_once
        get_or_create_eval_step=_get_or_create_eval_step""",
}
