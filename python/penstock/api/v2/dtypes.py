"""tf.dtypes, version 2."""
FROM = {
    "framework.dtypes": "DType as_dtype",
    "ops.math_ops": "cast complex saturate_cast",
}
