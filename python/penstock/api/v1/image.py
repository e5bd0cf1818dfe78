"""tf.image"""
WITHOUT = """
    resize_with_pad stateless_random_brightness stateless_random_contrast stateless_random_crop
    stateless_random_flip_left_right stateless_random_flip_up_down stateless_random_hue
    stateless_random_jpeg_quality stateless_random_saturation stateless_sample_distorted_bounding_box"""
FROM = {
    "core_ops.array_ops": "extract_image_patches",
    "ops.image.image_boxes": """
        crop_and_resize=crop_and_resize_v1 draw_bounding_boxes extract_glimpse sample_distorted_bounding_box""",
    "ops.image.image_color": "adjust_jpeg_quality=adjust_jpeg_quality_v1 per_image_standardization",
    "ops.image.image_shape": """
        ResizeMethod=ResizeMethodV1 resize=resize_images resize_bicubic resize_bilinear
        resize_image_with_crop_or_pad resize_image_with_pad=resize_image_with_pad_v1 resize_images
        resize_nearest_neighbor transpose_image=transpose""",
    "graph.gen": "resize_area",
}
