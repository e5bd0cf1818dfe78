"""tf.math.special, version 2."""
FROM = {
    "graph.gen": """
        bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1 bessel_k1e bessel_y0 bessel_y1 dawsn expint fresnel_cos
        fresnel_sin spence""",
    "core_ops.math_ops": "bessel_i0e bessel_i1e",
    "core_ops.special_math_ops": "bessel_i0 bessel_i1",
}
