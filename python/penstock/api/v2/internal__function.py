"""tf.__internal__.function."""
FROM = {
    "eager.def_function": "Function",
}
