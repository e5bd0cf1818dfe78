"""tf.image, version 2."""
FROM = {
    "framework.gen": """
        decode_and_crop_jpeg decode_bmp decode_gif decode_jpeg decode_png encode_jpeg encode_png extract_jpeg_shape
        hsv_to_rgb rgb_to_hsv""",
    "ops.array_ops": "extract_patches=extract_image_patches_v2",
    "ops.random_ops": "random_crop",
}
