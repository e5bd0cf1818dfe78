"""tf.debugging.experimental."""
FROM = {"debug.lib.switches": "disable_dump_debug_info enable_dump_debug_info"}
