"""tf.estimator.experimental."""
FROM = {
    "estimator.canned.dnn": "dnn_logit_fn_builder",
    "estimator.canned.linear": "linear_logit_fn_builder",
    "estimator.early_stopping": """
        make_early_stopping_hook stop_if_higher_hook stop_if_lower_hook stop_if_no_decrease_hook
        stop_if_no_increase_hook""",
    "estimator.export.export": "build_raw_supervised_input_receiver_fn",
    "estimator.hooks.hooks": "InMemoryEvaluatorHook make_stop_at_checkpoint_step_hook",
    "estimator.model_fn": "call_logit_fn",
}
