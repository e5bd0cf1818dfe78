"""tf.contrib.feature_column."""
FROM = {
    "feature_column.sequence_feature_column": """
        sequence_categorical_column_with_hash_bucket sequence_categorical_column_with_identity
        sequence_categorical_column_with_vocabulary_file sequence_categorical_column_with_vocabulary_list
        sequence_numeric_column""",
    "feature_column.sequence_input_layer": "sequence_input_layer",
}
