"""tf.audio and the ops of tensorflow.contrib.framework.python.ops.audio_ops."""
from penstock.ops.arguments import made_function

__all__ = ["audio_spectrogram", "decode_wav", "encode_wav", "mfcc"]

__getattr__ = made_function(__name__)
