"""tf.profiler.experimental.client."""
FROM = {"profiler.profiler_v2": "monitor trace"}
