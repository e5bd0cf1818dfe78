"""tf.contrib.slim.model_analyzer."""
FROM = {"contrib.slim.model_analyzer": "analyze_ops analyze_vars tensor_description"}
