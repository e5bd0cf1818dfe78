"""tf.audio"""
FROM = {"ops.audio_ops": "decode_wav encode_wav"}
