"""tf.linalg.experimental"""
FROM = {"ops.linalg.linalg_version_two": "conjugate_gradient"}
