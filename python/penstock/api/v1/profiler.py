"""tf.profiler"""
FROM = {
    "profiler.model_analyzer": "Profiler advise profile",
    "profiler.option_builder": "ProfileOptionBuilder",
    "profiler.tfprof_logger": "write_op_log",
    "penstock.proto": "AdviceProto GraphNodeProto MultiGraphNodeProto OpLogProto",
}
