"""tf.autograph.experimental."""
FROM = {
    "autograph.lang.directives": "set_loop_options=set_loop_options_v1",
}
