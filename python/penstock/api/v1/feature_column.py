"""tf.feature_column."""
WITHOUT = "shared_embeddings"
FROM = {
    "feature_column.feature_column": "input_layer linear_model make_parse_example_spec",
    "feature_column.feature_column_v2": "categorical_column_with_vocabulary_file shared_embedding_columns",
}
