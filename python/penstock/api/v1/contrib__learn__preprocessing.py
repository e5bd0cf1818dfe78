"""tf.contrib.learn.preprocessing."""
FROM = {
    "contrib.learn.preprocessing.categorical_vocabulary": "CategoricalVocabulary",
    "contrib.learn.preprocessing.text": "ByteProcessor VocabularyProcessor",
}
