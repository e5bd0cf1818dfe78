"""tf.__internal__.function."""
FROM = {
    "tf_function.def_function": "Function",
}
