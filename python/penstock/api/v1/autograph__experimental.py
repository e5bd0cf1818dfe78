"""tf.autograph.experimental."""
FROM = {
    "autograph.core.converter": "Feature",
    "autograph.impl.api": "do_not_convert",
    "autograph.lang.directives": "set_loop_options=set_loop_options_v1",
}
