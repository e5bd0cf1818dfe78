"""tf.profiler.experimental."""
FROM = {
    "profiler.profiler_v2": "Profile ProfilerOptions start stop",
    "profiler.trace": "Trace",
}
