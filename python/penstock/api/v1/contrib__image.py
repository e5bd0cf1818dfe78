"""tf.contrib.image."""
FROM = {
    "contrib.image": """
        angles_to_projective_transforms bipartite_match compose_transforms flat_transforms_to_matrices
        matrices_to_flat_transforms rotate transform translate translations_to_projective_transforms""",
    "contrib.image.dense_image_warp": "dense_image_warp",
}
