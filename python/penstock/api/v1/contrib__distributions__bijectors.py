"""tf.contrib.distributions.bijectors."""
FROM = {
    "contrib.distributions.bijectors.composite": "Chain ConditionalBijector Inline Invert",
    "contrib.distributions.bijectors.elementwise": """
        AbsoluteValue AffineScalar Exp Gumbel Kumaraswamy PowerTransform Sigmoid SinhArcsinh Softplus Softsign
        Square""",
    "contrib.distributions.bijectors.flows": """
        BatchNormalization MaskedAutoregressiveFlow RealNVP masked_autoregressive_default_template masked_dense
        real_nvp_default_template""",
    "contrib.distributions.bijectors.matrices": """
        Affine AffineLinearOperator CholeskyOuterProduct FillTriangular MatrixInverseTriL ScaleTriL
        TransformDiagonal""",
    "contrib.distributions.bijectors.vectors": "Ordered Permute Reshape SoftmaxCentered",
    "ops.distributions.bijector": "Bijector",
    "ops.distributions.identity_bijector": "Identity",
}
