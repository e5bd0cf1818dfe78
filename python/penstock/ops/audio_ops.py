"""tf.audio and the ops of tensorflow.contrib.framework.python.ops.audio_ops."""
from penstock.ops.arguments import made_function

__getattr__ = made_function(__name__)
