"""tf.contrib.estimator."""
FROM = {
    "estimator.canned.contrib_heads": """
        binary_classification_head logistic_regression_head multi_class_head multi_label_head poisson_regression_head
        regression_head""",
    "estimator.canned.dnn": "dnn_logit_fn_builder",
    "estimator.canned.linear": "linear_logit_fn_builder",
    "estimator.canned.multi_head": "multi_head",
    "estimator.early_stopping": """
        make_early_stopping_hook read_eval_metrics stop_if_higher_hook stop_if_lower_hook stop_if_no_decrease_hook
        stop_if_no_increase_hook""",
    "estimator.export.export": """
        build_raw_supervised_input_receiver_fn build_supervised_input_receiver_fn_from_input_fn""",
    "estimator.exporter": "StepsExporter",
    "estimator.extenders": "add_metrics clip_gradients_by_norm forward_features",
    "estimator.hooks.hooks": "InMemoryEvaluatorHook make_stop_at_checkpoint_step_hook",
    "estimator.model_fn": "call_logit_fn",
}
