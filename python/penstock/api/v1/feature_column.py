"""tf.feature_column."""
FROM = {
    "feature_column.feature_column": "input_layer linear_model make_parse_example_spec",
    "feature_column.feature_column_v2": """
        bucketized_column categorical_column_with_hash_bucket categorical_column_with_identity
        categorical_column_with_vocabulary_file categorical_column_with_vocabulary_list crossed_column
        embedding_column indicator_column numeric_column shared_embedding_columns weighted_categorical_column""",
    "feature_column.sequence_feature_column": """
        sequence_categorical_column_with_hash_bucket sequence_categorical_column_with_identity
        sequence_categorical_column_with_vocabulary_file sequence_categorical_column_with_vocabulary_list
        sequence_numeric_column""",
}
