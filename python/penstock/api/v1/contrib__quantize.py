"""tf.contrib.quantize."""
FROM = {
    "contrib.quantize.quantize_graph": """
        create_eval_graph create_training_graph experimental_create_eval_graph experimental_create_training_graph""",
}
