"""tf.lookup"""
FROM = {
    "ops.lookup.lookup_ops": """
        KeyValueTensorInitializer StaticHashTable=StaticHashTableV1 StaticVocabularyTable=StaticVocabularyTableV1
        TextFileIndex TextFileInitializer""",
}
