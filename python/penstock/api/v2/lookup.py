"""tf.lookup, version 2."""
FROM = {
    "ops.lookup.lookup_ops": """
        KeyValueTensorInitializer StaticHashTable StaticVocabularyTable TextFileIndex TextFileInitializer""",
}
