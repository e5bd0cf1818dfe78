"""tf.image"""
FROM = {
    "core_ops.array_ops": "extract_image_patches extract_patches=extract_image_patches_v2",
    "ops.random.random_ops": "random_crop",
    "ops.image.image_boxes": """
        combined_non_max_suppression crop_and_resize=crop_and_resize_v1 draw_bounding_boxes extract_glimpse
        non_max_suppression non_max_suppression_overlaps=non_max_suppression_with_overlaps non_max_suppression_padded
        non_max_suppression_with_scores sample_distorted_bounding_box""",
    "ops.image.image_color": """
        adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_jpeg_quality=adjust_jpeg_quality_v1
        adjust_saturation
        convert_image_dtype grayscale_to_rgb per_image_standardization random_brightness random_contrast random_hue
        random_jpeg_quality random_saturation rgb_to_grayscale rgb_to_yiq rgb_to_yuv yiq_to_rgb yuv_to_rgb""",
    "ops.image.image_files": "decode_image encode_png is_jpeg",
    "ops.image.image_quality": "image_gradients psnr sobel_edges ssim ssim_multiscale total_variation",
    "ops.image.image_shape": """
        ResizeMethod=ResizeMethodV1 central_crop crop_to_bounding_box flip_left_right flip_up_down
        pad_to_bounding_box random_flip_left_right random_flip_up_down resize=resize_images resize_bicubic
        resize_bilinear resize_image_with_crop_or_pad resize_image_with_pad=resize_image_with_pad_v1 resize_images
        resize_nearest_neighbor resize_with_crop_or_pad=resize_image_with_crop_or_pad rot90 transpose
        transpose_image=transpose""",
    "graph.gen": """
        decode_and_crop_jpeg decode_bmp decode_gif decode_jpeg decode_png encode_jpeg extract_jpeg_shape
        hsv_to_rgb resize_area rgb_to_hsv""",
}
