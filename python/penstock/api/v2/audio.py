"""tf.audio"""
FROM = {"framework.gen": "decode_wav encode_wav"}
