"""tf.lookup"""
FROM = {
    "ops.lookup.lookup_ops": "StaticHashTable=StaticHashTableV1 StaticVocabularyTable=StaticVocabularyTableV1",
}
