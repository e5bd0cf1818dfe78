"""tf.audio"""
FROM = {"graph.gen": "decode_wav encode_wav"}
