"""tf.keras.initializers."""
FROM = {
    "layers.initializers": """
        RandomNormal RandomUniform TruncatedNormal deserialize get normal=RandomNormal random_normal=RandomNormal
        random_uniform=RandomUniform serialize truncated_normal=TruncatedNormal uniform=RandomUniform""",
    "ops.state.init_ops": """
        Constant Identity Initializer Ones Orthogonal VarianceScaling Zeros constant=Constant
        glorot_normal=GlorotNormal glorot_uniform=GlorotUniform he_normal he_uniform identity=Identity lecun_normal
        lecun_uniform ones=Ones orthogonal=Orthogonal zeros=Zeros""",
}
