"""tf.__internal__.feature_column."""
FROM = {
    "feature_column.base": "DenseColumn FeatureColumn FeatureTransformationCache SequenceDenseColumn",
    "feature_column.layers": "StateManager=StateManagerImpl",
    "feature_column.serialization": "deserialize_feature_column serialize_feature_column",
}
