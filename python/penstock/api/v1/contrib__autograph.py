"""tf.contrib.autograph."""
FROM = {
    "autograph.core.converter": "ConversionOptions Feature",
    "autograph.impl.api": "AutoGraphError convert converted_call do_not_convert to_code to_graph",
    "autograph.lang.directives": "set_element_type set_loop_options=set_loop_options_v1",
}
NAMES = {"operators": "autograph.operators", "utils": "autograph.utils"}
