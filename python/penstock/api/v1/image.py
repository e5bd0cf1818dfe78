"""tf.image: what is made from op definitions, patches and crops."""
FROM = {
    "ops.array_ops": "extract_image_patches extract_patches=extract_image_patches_v2",
    "ops.random_ops": "random_crop",
    "framework.gen": """
        decode_and_crop_jpeg decode_bmp decode_gif decode_jpeg decode_png encode_png extract_jpeg_shape hsv_to_rgb
        resize_area rgb_to_hsv""",
}
