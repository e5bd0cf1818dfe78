"""tf.profiler.experimental.server."""
FROM = {"profiler.profiler_v2": "start=start_server"}
