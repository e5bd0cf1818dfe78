"""tf.nn.experimental"""
FROM = {"ops.nn.nn_version_two": "general_dropout stateless_dropout"}
