"""tf.estimator.export."""
FROM = {
    "estimator.export.export": """
        ServingInputReceiver TensorServingInputReceiver build_parsing_serving_input_receiver_fn
        build_raw_serving_input_receiver_fn""",
    "saved_model.model_utils.export_output": "ClassificationOutput ExportOutput PredictOutput RegressionOutput",
}
