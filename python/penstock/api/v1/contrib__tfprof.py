"""tf.contrib.tfprof"""
FROM = {"profiler.profile_context": "ProfileContext"}
NAMES = {"model_analyzer": "profiler.model_analyzer", "tfprof_logger": "profiler.tfprof_logger"}
