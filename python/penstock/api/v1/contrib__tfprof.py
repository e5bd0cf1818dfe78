"""tf.contrib.tfprof"""
FROM = {"profiler.profile_context": "ProfileContext"}
NAMES = {"model_analyzer": "contrib.tfprof", "tfprof_logger": "profiler.tfprof_logger"}
