"""tf.linalg.experimental"""
FROM = {"ops.linalg_version_two": "conjugate_gradient"}
