"""tf.layers."""
FROM = {
    "layers.pooling": """
        AveragePooling1D AveragePooling2D AveragePooling3D MaxPooling1D MaxPooling2D MaxPooling3D
        average_pooling1d average_pooling2d average_pooling3d max_pooling1d max_pooling2d max_pooling3d""",
    "layers.normalization": "BatchNormalization batch_normalization",
    "layers.convolutional": "Conv1D Conv2D Conv3D conv1d conv2d conv3d",
    "layers.convolutional_transpose": "Conv2DTranspose Conv3DTranspose conv2d_transpose conv3d_transpose",
    "layers.core": "Dense Dropout Flatten dense dropout flatten",
    "layers.input_spec": "InputSpec",
    "layers.base": "Layer",
    "layers.convolutional_separable": "SeparableConv1D SeparableConv2D separable_conv1d separable_conv2d",
}
