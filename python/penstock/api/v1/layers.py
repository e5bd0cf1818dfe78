"""tf.layers."""
FROM = {
    "layers.layers": """
        AveragePooling1D AveragePooling2D AveragePooling3D BatchNormalization Conv1D Conv2D Conv2DTranspose Conv3D
        Conv3DTranspose Dense Dropout Flatten InputSpec Layer MaxPooling1D MaxPooling2D MaxPooling3D SeparableConv1D
        SeparableConv2D average_pooling1d average_pooling2d average_pooling3d batch_normalization conv1d conv2d
        conv2d_transpose conv3d conv3d_transpose dense dropout flatten max_pooling1d max_pooling2d max_pooling3d
        separable_conv1d separable_conv2d""",
}
