"""tf.profiler"""
FROM = {"proto": "AdviceProto GraphNodeProto MultiGraphNodeProto OpLogProto"}
