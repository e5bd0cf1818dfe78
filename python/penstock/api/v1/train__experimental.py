"""tf.train.experimental."""
FROM = {"training.tracking.python_state": "PythonState"}
