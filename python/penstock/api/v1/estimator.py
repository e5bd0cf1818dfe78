"""tf.estimator."""
FROM = {
    "estimator.canned.baseline": "BaselineClassifier BaselineEstimator BaselineRegressor",
    "estimator.canned.dnn": "DNNClassifier DNNEstimator DNNRegressor",
    "estimator.canned.dnn_linear_combined": """
        DNNLinearCombinedClassifier DNNLinearCombinedEstimator DNNLinearCombinedRegressor""",
    "estimator.canned.linear": "LinearClassifier LinearEstimator LinearRegressor",
    "estimator.canned.parsing_utils": "classifier_parse_example_spec regressor_parse_example_spec",
    "estimator.estimator": "Estimator VocabInfo WarmStartSettings",
    "estimator.exporter": "BestExporter Exporter FinalExporter LatestExporter",
    "estimator.extenders": "add_metrics",
    "saved_model.model_utils.mode_keys": "ModeKeys=EstimatorModeKeys",
    "estimator.model_fn": "EstimatorSpec",
    "estimator.run_config": "RunConfig",
    "estimator.training": "EvalSpec TrainSpec train_and_evaluate",
    "training.basic_session_run_hooks": """
        CheckpointSaverHook CheckpointSaverListener FeedFnHook FinalOpsHook GlobalStepWaiterHook LoggingTensorHook
        NanLossDuringTrainingError NanTensorHook ProfilerHook SecondOrStepTimer StepCounterHook StopAtStepHook
        SummarySaverHook""",
    "training.session_run_hook": "SessionRunArgs SessionRunContext SessionRunHook SessionRunValues",
}
