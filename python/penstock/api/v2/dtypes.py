"""tf.dtypes, version 2."""
FROM = {
    "framework.dtypes": "as_dtype",
    "ops.math_ops": "cast complex saturate_cast",
}
