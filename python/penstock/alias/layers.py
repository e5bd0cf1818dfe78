"""tf.layers: all layers in one module."""
from penstock._src.layers.base import InputSpec, Layer
from penstock._src.layers.convolutional import Conv1D, Conv2D, Conv3D, conv1d, conv2d, conv3d
from penstock._src.layers.convolutional_separable import (
    SeparableConv1D, SeparableConv2D, separable_conv1d, separable_conv2d)
from penstock._src.layers.convolutional_transpose import (
    Conv2DTranspose, Conv3DTranspose, conv2d_transpose, conv3d_transpose)
from penstock._src.layers.core import Dense, Dropout, Flatten, dense, dropout, flatten
from penstock._src.layers.normalization import BatchNormalization, batch_normalization
from penstock._src.layers.pooling import (
    AveragePooling1D, AveragePooling2D, AveragePooling3D, MaxPooling1D, MaxPooling2D, MaxPooling3D, average_pooling1d,
    average_pooling2d, average_pooling3d, max_pooling1d, max_pooling2d, max_pooling3d)
