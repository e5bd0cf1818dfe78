"""tf.math.special, version 2."""
FROM = {
    "ops.math_ops": "bessel_i0e bessel_i1e",
    "ops.special_math_ops": "bessel_i0 bessel_i1",
}
