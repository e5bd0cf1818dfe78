"""tf.debugging.experimental."""
FROM = {"debug.lib.dumping_callback": "disable_dump_debug_info enable_dump_debug_info"}
