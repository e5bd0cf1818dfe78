"""tf.image, version 2."""
FROM = {
    "graph.gen": """
        decode_and_crop_jpeg decode_bmp decode_gif decode_jpeg decode_png encode_jpeg extract_jpeg_shape
        hsv_to_rgb rgb_to_hsv""",
    "core_ops.array_ops": "extract_patches=extract_image_patches_v2",
    "ops.image.image_boxes": """
        combined_non_max_suppression crop_and_resize=crop_and_resize_v2 draw_bounding_boxes=draw_bounding_boxes_v2
        extract_glimpse=extract_glimpse_v2 non_max_suppression
        non_max_suppression_overlaps=non_max_suppression_with_overlaps non_max_suppression_padded
        non_max_suppression_with_scores sample_distorted_bounding_box=sample_distorted_bounding_box_v2
        stateless_sample_distorted_bounding_box""",
    "ops.image.image_color": """
        adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_jpeg_quality adjust_saturation
        convert_image_dtype grayscale_to_rgb per_image_standardization=per_image_standardization_v2
        random_brightness random_contrast random_hue random_jpeg_quality random_saturation rgb_to_grayscale
        rgb_to_yiq rgb_to_yuv stateless_random_brightness stateless_random_contrast
        stateless_random_hue stateless_random_jpeg_quality stateless_random_saturation yiq_to_rgb yuv_to_rgb""",
    "ops.image.image_files": "decode_image encode_png is_jpeg",
    "ops.image.image_quality": "image_gradients psnr sobel_edges ssim ssim_multiscale total_variation",
    "ops.image.image_shape": """
        ResizeMethod central_crop crop_to_bounding_box flip_left_right flip_up_down pad_to_bounding_box
        random_flip_left_right random_flip_up_down resize=resize_images_v2
        resize_with_crop_or_pad=resize_image_with_crop_or_pad resize_with_pad=resize_image_with_pad_v2 rot90
        stateless_random_flip_left_right stateless_random_flip_up_down transpose""",
    "ops.random.random_ops": "random_crop",
    "ops.random.stateless_random_ops": "stateless_random_crop",
}
