"""Convolutions: of one to three dimensions, dilated by moving blocks into the batch, transposed."""
from collections import abc

import numpy as np

from penstock._src.graph import dtypes, gen, ops, tensor_shape, tensor_util
from penstock._src.base import tf2
from penstock._src.core_ops import array_ops
from penstock._src.core_ops.arguments import pick

__all__ = [
    "Convolution", "atrous_conv2d", "atrous_conv2d_transpose", "conv1d", "conv1d_transpose", "conv1d_v2", "conv2d",
    "conv2d_backprop_filter", "conv2d_backprop_input", "conv2d_transpose", "conv2d_transpose_v2", "conv2d_v2",
    "conv3d_transpose", "conv3d_transpose_v2", "conv3d_v1", "conv3d_v2", "conv_transpose", "convert_padding",
    "convolution",
    "convolution_internal", "convolution_v2", "depthwise_conv2d_native", "depthwise_conv2d_native_backprop_filter",
    "depthwise_conv2d_native_backprop_input", "squeeze_batch_dims", "with_space_to_batch",
]


def channels_first(data_format):
    """Whether a data format is NC..."""
    return data_format is not None and data_format.startswith("NC")


def per_dimension(value, n, channel_index, name):
    """Strides, window or dilations for all n + 2 dimensions, from one number, n or all of them."""
    if value is None:
        value = [1]
    elif not isinstance(value, abc.Sized):
        value = [value]
    if len(value) == n + 2:
        return value
    if len(value) not in (1, n):
        raise ValueError(f"{name} should be of length 1, {n} or {n + 2} but was {len(value)}")
    value = list(value) * (n if len(value) == 1 and n != 1 else 1)
    return [1, 1] + value if channel_index == 1 else [1] + value + [1]


def _image_format(data_format):
    """The format of an image (NHWC, NCHW) one row high, and the place of that row, for a format of a sequence."""
    if data_format in (None, "NHWC", "NWC"):
        return "NHWC", 1, 2
    if data_format in ("NCHW", "NCW"):
        return "NCHW", 2, 1
    raise ValueError('data_format must be "NWC" or "NCW".')


def convert_padding(padding, expected_length=4):
    """The attributes `padding` and `explicit_paddings`: a list of pairs stands for the latter."""
    if padding == "EXPLICIT":
        raise ValueError('"EXPLICIT" is not a valid value for the padding parameter. To use explicit padding, the '
                         'padding '
                         "parameter must be a list.")
    if not isinstance(padding, (list, tuple)):
        return padding, []
    for i, pair in enumerate(padding):
        problem = None
        if not isinstance(pair, (list, tuple)):
            problem = "is not a list/tuple"
        elif len(pair) != 2:
            problem = f"has size {len(pair)}"
        if problem:
            raise ValueError("When padding is a list, each element of padding must be a list/tuple of size 2. Element "
                             f"with index {i} of padding {problem}")
    if len(padding) != expected_length:
        raise ValueError(f"When padding is a list, it must be of size {expected_length}. Got padding of size: "
                         f"{len(padding)}")
    return "EXPLICIT", [side for pair in padding for side in pair]


def static_rank(x):
    """The number of dimensions of a tensor or array, or None."""
    shape = getattr(x, "shape", None)
    if isinstance(shape, tensor_shape.TensorShape):
        return shape.ndims
    return None if shape is None else len(shape)


def squeeze_batch_dims(inp, op, inner_rank, name=None):
    """op(inp) of an op that takes one batch dimension, for a tensor that has several before `inner_rank` others.

    The result has the same batch dimensions. The rank of `inp` must be known.
    """
    with ops.name_scope(name, "squeeze_batch_dims", [inp]):
        inp = ops.convert_to_tensor(inp, name="input")
        batch, inner = inp.shape[:-inner_rank], inp.shape[-inner_rank:]
        sizes = inner if inner.is_fully_defined() else array_ops.shape(inp)[-inner_rank:]
        result = op(array_ops.reshape(inp, array_ops.concat([[-1], sizes], -1)))
        outer = batch if batch.is_fully_defined() else array_ops.shape(inp)[:-inner_rank]
        of_one = result.shape[1:]
        sizes = of_one if of_one.is_fully_defined() else array_ops.shape(result)[1:]
        result = array_ops.reshape(result, array_ops.concat([outer, sizes], -1))
        result.set_shape(batch.concatenate(of_one))
        return result


# Sequences


def conv1d(value=None, filters=None, stride=None, padding=None, use_cudnn_on_gpu=None, data_format=None, name=None,
           input=None, dilations=None):
    """Convolution of sequences: of images one row high."""
    value = pick("input", input, "value", value)
    if (static_rank(value) or 0) > 3:
        return squeeze_batch_dims(value, lambda flat: conv1d(flat, filters, stride, padding, use_cudnn_on_gpu,
                                                             data_format, dilations=dilations), 2, name)
    with ops.name_scope(name, "conv1d", [value, filters]) as name:
        data_format, row, channel_index = _image_format(data_format)
        strides = [1] + per_dimension(stride, 1, channel_index, "stride")
        dilations = [1] + per_dimension(dilations, 1, channel_index, "dilations")
        value = array_ops.expand_dims(value, row)
        filters = array_ops.expand_dims(filters, 0)
        result = gen.conv2d(value, filters, strides, padding,
                            use_cudnn_on_gpu=True if use_cudnn_on_gpu is None else use_cudnn_on_gpu,
                            data_format=data_format, dilations=dilations, name=name)
        return array_ops.squeeze(result, [row])


def conv1d_v2(input, filters, stride, padding, data_format="NWC", dilations=None, name=None):
    """Convolution of sequences: of images one row high."""
    return conv1d(input, filters, stride, padding, True, data_format, name, dilations=dilations)


def conv1d_transpose(input, filters, output_shape, strides, padding="SAME",
                     data_format="NWC", dilations=None, name=None):
    """The transpose (gradient) of conv1d."""
    with ops.name_scope(name, "conv1d_transpose", [input, filters, output_shape]) as name:
        if data_format not in (None, "NWC", "NCW"):
            raise ValueError('data_format must be "NWC" or "NCW".')
        data_format, row, channel_index = _image_format(data_format)
        strides = [1] + per_dimension(strides, 1, channel_index, "stride")
        dilations = [1] + per_dimension(dilations, 1, channel_index, "dilations")
        input = array_ops.expand_dims(input, row)
        filters = array_ops.expand_dims(filters, 0)
        shape = output_shape if isinstance(output_shape, ops.Tensor) else list(output_shape)
        shape = array_ops.concat([shape[:row], [1], shape[row:]], 0)
        result = gen.conv2d_backprop_input(shape, filters, input, strides=strides, padding=padding,
                                           data_format=data_format, dilations=dilations, name=name)
        return array_ops.squeeze(result, row)


# Images


def _image_geometry(strides, dilations, data_format):
    data_format = data_format or "NHWC"
    channel_index = 1 if channels_first(data_format) else 3
    return dict(strides=per_dimension(strides, 2, channel_index, "strides"),
                dilations=per_dimension(dilations, 2, channel_index, "dilations"), data_format=data_format)


def conv2d(input, filter=None, strides=None, padding=None,
           use_cudnn_on_gpu=True, data_format="NHWC", dilations=[1, 1, 1, 1], name=None, filters=None):
    """Convolution of images with filters [height, width, channels, filters].

    input: [batch, height, width, channels], or with several dimensions for the batch; [batch, channels, height, width]
      with `data_format` "NCHW".
    strides, dilations: an integer, one for height and width each, or one for each dimension.
    padding: "SAME" (results for each place, at stride 1), "VALID" (only where the filter fits), or (before, after) for
      each dimension.
    The result is [batch, height, width, filters], of the input's type.
    """
    filter = pick("filters", filters, "filter", filter)
    if (static_rank(input) or 0) > 4:
        return squeeze_batch_dims(input, lambda flat: conv2d(flat, filter, strides, padding, use_cudnn_on_gpu,
                                                             data_format, dilations), 3, name)
    padding, explicit = convert_padding(padding)
    return gen.conv2d(input, filter, padding=padding, explicit_paddings=explicit, use_cudnn_on_gpu=use_cudnn_on_gpu,
                      name=name, **_image_geometry(strides, dilations, data_format))


def conv2d_v2(input, filters, strides, padding, data_format="NHWC", dilations=None, name=None):
    return conv2d(input, filters, strides, padding, True, data_format, dilations, name)


conv2d_v2.__doc__ = conv2d.__doc__


def conv2d_backprop_filter(input, filter_sizes, out_backprop, strides, padding,
                           use_cudnn_on_gpu=True, data_format="NHWC", dilations=[1, 1, 1, 1], name=None):
    """The gradient of conv2d by its filters."""
    padding, explicit = convert_padding(padding)
    return gen.conv2d_backprop_filter(input, filter_sizes, out_backprop, strides=strides, padding=padding,
                                      use_cudnn_on_gpu=use_cudnn_on_gpu, explicit_paddings=explicit,
                                      data_format=data_format, dilations=dilations, name=name)


def conv2d_backprop_input(input_sizes, filter=None, out_backprop=None, strides=None,
                          padding=None, use_cudnn_on_gpu=True, data_format="NHWC", dilations=[1, 1, 1, 1], name=None,
                          filters=None):
    """The gradient of conv2d by its input."""
    filter = pick("filters", filters, "filter", filter)
    padding, explicit = convert_padding(padding)
    return gen.conv2d_backprop_input(input_sizes, filter, out_backprop, strides=strides, padding=padding,
                                     use_cudnn_on_gpu=use_cudnn_on_gpu, explicit_paddings=explicit,
                                     data_format=data_format, dilations=dilations, name=name)


def depthwise_conv2d_native(input, filter, strides, padding, data_format="NHWC", dilations=[1, 1, 1, 1], name=None):
    """Convolution of each channel with filters of its own, [height, width, channels, filters of each]."""
    padding, explicit = convert_padding(padding)
    return gen.depthwise_conv2d_native(input, filter, strides=strides, padding=padding, explicit_paddings=explicit,
                                       data_format=data_format, dilations=dilations, name=name)


def depthwise_conv2d_native_backprop_filter(input, filter_sizes, out_backprop, strides, padding, data_format="NHWC",
                                            dilations=[1, 1, 1, 1], name=None):
    """The gradient of depthwise_conv2d_native by its filters."""
    padding, explicit = convert_padding(padding)
    return gen.depthwise_conv2d_native_backprop_filter(
        input, filter_sizes, out_backprop, strides=strides, padding=padding, explicit_paddings=explicit,
        data_format=data_format, dilations=dilations, name=name)


def depthwise_conv2d_native_backprop_input(input_sizes, filter, out_backprop, strides, padding, data_format="NHWC",
                                           dilations=[1, 1, 1, 1], name=None):
    """The gradient of depthwise_conv2d_native by its input."""
    padding, explicit = convert_padding(padding)
    return gen.depthwise_conv2d_native_backprop_input(
        input_sizes, filter, out_backprop, strides=strides, padding=padding, explicit_paddings=explicit,
        data_format=data_format, dilations=dilations, name=name)


def conv2d_transpose(value=None, filter=None, output_shape=None, strides=None,
                     padding="SAME", data_format="NHWC", name=None, input=None, filters=None, dilations=None):
    """The transpose (gradient) of conv2d, "deconvolution"."""
    value = pick("input", input, "value", value)
    filter = pick("filters", filters, "filter", filter)
    with ops.name_scope(name, "conv2d_transpose", [value, filter, output_shape]) as name:
        return conv2d_transpose_v2(value, filter, output_shape, strides, padding, data_format, dilations, name)


def conv2d_transpose_v2(input, filters, output_shape, strides, padding="SAME",
                        data_format="NHWC", dilations=None, name=None):
    """The transpose (gradient) of conv2d, "deconvolution"."""
    with ops.name_scope(name, "conv2d_transpose", [input, output_shape]) as name:
        return gen.conv2d_backprop_input(output_shape, filters, input, padding=padding, name=name,
                                         **_image_geometry(strides, dilations, data_format))


# Volumes


def conv3d_v1(input, filter=None, strides=None, padding=None,
              data_format="NDHWC", dilations=[1, 1, 1, 1, 1], name=None, filters=None):
    """Convolution of volumes with filters [depth, height, width, channels, filters]."""
    filter = pick("filters", filters, "filter", filter)
    if (static_rank(input) or 0) > 5:
        return squeeze_batch_dims(input, lambda flat: conv3d_v1(flat, filter, strides, padding, data_format,
                                                                dilations), 4, name)
    return gen.conv3d(input, filter, strides, padding, data_format=data_format, dilations=dilations, name=name)


def conv3d_v2(input, filters, strides, padding, data_format="NDHWC", dilations=None, name=None):
    """Convolution of volumes with filters [depth, height, width, channels, filters]."""
    return conv3d_v1(input, filters, strides, padding, data_format, [1] * 5 if dilations is None else dilations, name)


def conv3d_transpose(value, filter=None, output_shape=None, strides=None, padding="SAME",
                     data_format="NDHWC", name=None, input=None, filters=None, dilations=None):
    """The transpose (gradient) of conv3d."""
    filter = pick("filters", filters, "filter", filter)
    value = pick("input", input, "value", value)
    return conv3d_transpose_v2(value, filter, output_shape, strides, padding, data_format, dilations, name)


def conv3d_transpose_v2(input, filters, output_shape, strides, padding="SAME",
                        data_format="NDHWC", dilations=None, name=None):
    """The transpose (gradient) of conv3d."""
    with ops.name_scope(name, "conv3d_transpose", [input, output_shape]) as name:
        data_format = data_format or "NDHWC"
        channel_index = 1 if channels_first(data_format) else 4
        return gen.conv3d_backprop_input_v2(
            output_shape, filters, input, strides=per_dimension(strides, 3, channel_index, "strides"), padding=padding,
            data_format=data_format, dilations=per_dimension(dilations, 3, channel_index, "dilations"), name=name)


def conv_transpose(input, filters, output_shape, strides, padding="SAME",
                   data_format=None, dilations=None, name=None):
    """The transposed convolution of as many dimensions as `output_shape` says."""
    with ops.name_scope(name, "conv_transpose", [input, output_shape]) as name:
        if tensor_util.is_tensor(output_shape):
            n = int(output_shape.shape[0]) - 2
        elif isinstance(output_shape, abc.Sized):
            n = len(output_shape) - 2
        else:
            raise ValueError("output_shape must be a tensor or sized collection.")
        if not 1 <= n <= 3:
            raise ValueError(f"output_shape must be of length 3, 4 or 5 but was {n + 2}.")
        op = (conv1d_transpose, conv2d_transpose_v2, conv3d_transpose_v2)[n - 1]
        return op(input, filters, output_shape, strides, padding=padding, data_format=data_format, dilations=dilations,
                  name=name)


# Dilation by moving blocks into the batch dimension


def with_space_to_batch(input, dilation_rate, padding, op, filter_shape=None,
                        spatial_dims=None, data_format=None):
    """op(input, number of spatial dimensions, padding) as if its window were dilated."""
    input = ops.convert_to_tensor(input, name="input")
    dilated = _Dilated(input.get_shape(), dilation_rate, padding, lambda n, how: lambda x, _: op(x, n, how),
                       filter_shape, spatial_dims, data_format)
    return dilated(input, None)


class _Dilated:
    """Runs an op on the interleaved blocks of its input.

    `build(n, padding)` gives the function (input, filter) -> output to run; with a rate of 1 it is run as it is.
    """

    def __init__(self, input_shape, dilation_rate, padding, build, filter_shape=None, spatial_dims=None,
                 data_format=None):
        rate = ops.convert_to_tensor(dilation_rate, dtypes.int32, name="dilation_rate")
        if rate.get_shape().ndims not in (None, 1):
            raise ValueError("rate must be rank 1")
        if not rate.get_shape().is_fully_defined():
            raise ValueError("rate must have known shape")
        n = rate.get_shape().as_list()[0]
        first = 2 if channels_first(data_format) else 1
        dims = list(range(first, n + first) if spatial_dims is None else spatial_dims)
        if dims != sorted({int(d) for d in dims}) or any(d < 1 for d in dims):
            raise ValueError("spatial_dims must be a montonically increasing sequence of positive integers")
        least = dims[-1] + (0 if channels_first(data_format) else 1)
        if input_shape.ndims is not None and input_shape.ndims < least:
            raise ValueError(f"input tensor must have rank {least} at least")
        known = tensor_util.constant_value(rate)
        if known is not None:
            if np.any(known < 1):
                raise ValueError("dilation_rate must be positive")
            if np.all(known == 1):
                self._direct = build(n, padding)
                return
        self._direct = None
        self._n, self._rate, self._known_rate = n, rate, rate if known is None else known
        self._input_shape, self._dims, self._data_format = input_shape, dims, data_format
        self._base_paddings = None  # found from the filter when it is there
        if padding == "SAME":
            if filter_shape is None:
                raise ValueError("filter_shape must be specified for SAME padding")
            size = tensor_util.constant_value(ops.convert_to_tensor(filter_shape, name="filter_shape"))
            if size is not None:
                self._base_paddings = self._same_paddings(size)
        elif padding == "VALID":
            self._base_paddings = np.zeros([n, 2], np.int32)
        else:
            raise ValueError(f"Invalid padding method {padding!r}")
        self._op = build(n, "VALID")

    def _same_paddings(self, filter_shape):
        size = filter_shape[:self._n]
        extra = size + (size - 1) * (self._known_rate - 1) - 1
        before = extra // 2
        after = extra - before
        return array_ops.stack([[before[i], after[i]] for i in range(self._n)])

    def _for_all_dims(self, values, fill_value):
        """`values` (one row for each spatial dimension) with rows for the dimensions between and before them."""
        known = tensor_util.constant_value(values)
        rows = values if known is None else known
        fill = [fill_value] if values.get_shape().ndims == 1 else [[fill_value] * values.get_shape().as_list()[1]]
        parts, done, i = [], 0, 0
        while i < len(self._dims):
            if self._dims[i] - 1 > done:
                parts.append(np.array(fill * (self._dims[i] - 1 - done), dtype=values.dtype.as_numpy_dtype))
            start = i
            while i + 1 < len(self._dims) and self._dims[i + 1] == self._dims[i] + 1:
                i += 1
            parts.append(rows[start:i + 1])
            done = self._dims[i]
            i += 1
        return np.concatenate(parts) if known is not None else array_ops.concat(parts, 0)

    def __call__(self, inp, filter):
        if self._direct is not None:
            return self._direct(inp, filter)
        sizes = None if self._input_shape.ndims is None else [self._input_shape.as_list()[d] for d in self._dims]
        if sizes is None or None in sizes:
            dynamic = array_ops.shape(inp)
            sizes = array_ops.stack([dynamic[d] for d in self._dims])
        base = self._base_paddings
        if base is None:
            base = self._same_paddings(array_ops.shape(filter))
        paddings, crops = array_ops.required_space_to_batch_paddings(
            input_shape=sizes, base_paddings=base, block_shape=self._rate)
        rate = self._for_all_dims(self._rate, 1)
        paddings, crops = self._for_all_dims(paddings, 0), self._for_all_dims(crops, 0)
        blocks = gen.space_to_batch_nd(input=inp, block_shape=rate, paddings=paddings)
        result = gen.batch_to_space_nd(input=self._op(blocks, filter), block_shape=rate, crops=crops)
        if channels_first(self._data_format) and filter is not None and not result.shape.as_list()[1]:
            shape = result.shape.as_list()
            shape[1] = filter.shape[-1]
            result.set_shape(shape)
        return result


def strides_and_rate(n, strides, dilation_rate):
    """Both as vectors of n; at most one of them may be above 1."""
    values = []
    for label, value in (("dilation_rate", dilation_rate), ("strides", strides)):
        value = [1] * n if value is None else value
        if len(value) != n:
            raise ValueError(f"len({label})={len(value)} but should be {n}")
        value = np.array(value, dtype=np.int32)
        if np.any(value < 1):
            raise ValueError(f"all values of {label} must be positive")
        values.append(value)
    if np.any(values[0] > 1) and np.any(values[1] > 1):
        raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
    return values[1], values[0]


class _Plain:
    """A convolution without dilation, of one to three dimensions."""

    def __init__(self, input_shape, filter_shape, padding, data_format, strides, name):
        filter_shape = filter_shape.with_rank(input_shape.ndims)
        ndims = input_shape.with_rank(filter_shape.ndims).ndims
        if ndims is None:
            raise ValueError("Rank of convolution must be known")
        if not 3 <= ndims <= 5:
            raise ValueError("`input` and `filter` must have rank at least 3 and at most 5")
        n = ndims - 2
        strides = [1] * n if strides is None else strides
        if len(strides) != n:
            raise ValueError(f"len(strides)={len(strides)}, but should be {n}")
        allowed = {1: ("NWC", "NCW", "NHWC", "NCHW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}[n]
        if data_format is not None and data_format not in allowed:
            raise ValueError(f'data_format must be "{allowed[0]}" or "{allowed[1]}". Have: {data_format}')
        if n == 1:
            strides = strides[0]
        else:
            strides = [1, 1, *strides] if channels_first(data_format) else [1, *strides, 1]
        if n < 3:
            data_format = data_format or allowed[0]
        self._op = {1: self._conv1d, 2: self._conv2d, 3: self._conv3d}[n]
        self._how = dict(strides=strides, padding=padding, data_format=data_format, name=name)

    def _conv1d(self, inp, filters, strides, **how):
        return conv1d(inp, filters, strides, **how)

    def _conv2d(self, inp, filters, **how):
        return conv2d(inp, filters, dilations=None, **how)

    def _conv3d(self, inp, filters, strides, padding, data_format, name):
        return gen.conv3d(inp, filters, [int(s) for s in strides], padding, data_format=data_format or "NDHWC",
                          dilations=[1] * 5, name=name)

    def __call__(self, inp, filter):
        return self._op(inp, filter, **self._how)


class Convolution:
    """A convolution for inputs and filters of given shapes: call it with tensors of these shapes."""

    def __init__(self, input_shape, filter_shape, padding, strides=None, dilation_rate=None, name=None,
                 data_format=None):
        filter_shape, input_shape = tensor_shape.as_shape(filter_shape), tensor_shape.as_shape(input_shape)
        total = filter_shape.ndims if filter_shape.ndims is not None else input_shape.ndims
        if total is None:
            raise ValueError("rank of input or filter must be known")
        n = total - 2
        self.num_batch_dims = 1 if input_shape.ndims is None else input_shape.ndims - n - 1
        if self.num_batch_dims < 1:
            raise ValueError(f"input tensor must have rank {total} at least")
        if self.num_batch_dims > 1:
            input_shape = tensor_shape.TensorShape([None]).concatenate(input_shape[self.num_batch_dims:])
        first = 2 if channels_first(data_format) else 1
        channels = tensor_shape.dimension_at_index(input_shape, 1 if channels_first(data_format) else n + 1)
        wanted = tensor_shape.dimension_at_index(filter_shape, n)
        if tf2.enabled():  # it has convolutions of groups of channels
            if channels.value is not None and wanted.value and channels.value % wanted.value:
                raise ValueError("The number of input channels is not divisible by the corresponding dimension of "
                                 f"filters: {channels} channels and {wanted}")
        elif not channels.is_compatible_with(wanted):
            raise ValueError("number of input channels does not match corresponding dimension of filter, "
                             f"{channels} != {wanted}")
        self.input_shape, self.filter_shape = input_shape, filter_shape
        self.padding, self.data_format, self.name = padding, data_format, name
        self.strides, self.dilation_rate = strides_and_rate(n, strides, dilation_rate)
        self.conv_op = _Dilated(input_shape, self.dilation_rate, padding, self._build, filter_shape,
                                range(first, n + first), data_format)

    def _build(self, _, padding):
        return _Plain(self.input_shape, self.filter_shape, padding, self.data_format, self.strides, self.name)

    def __call__(self, inp, filter):
        if self.num_batch_dims > 1:
            return squeeze_batch_dims(inp, lambda flat: self.conv_op(flat, filter), self.input_shape.ndims - 1)
        return self.conv_op(inp, filter)


def convolution(input, filter, padding, strides=None, dilation_rate=None, name=None,
                data_format=None, filters=None, dilations=None):
    """Convolution of one to three dimensions, by the rank of the input, with strides or dilations."""
    filter = pick("filters", filters, "filter", filter)
    dilation_rate = pick("dilations", dilations, "dilation_rate", dilation_rate)
    return convolution_internal(input, filter, strides, padding, data_format, dilation_rate, name)


def convolution_v2(input, filters, strides=None, padding="VALID", data_format=None, dilations=None, name=None):
    """Convolution of one to three dimensions, by the rank of the input, with strides or dilations."""
    return convolution_internal(input, filters, strides, padding, data_format, dilations, name)


def convolution_internal(input, filters, strides=None, padding="VALID", data_format=None,
                         dilations=None, name=None):
    """`convolution` in the order of version 2's arguments."""
    rank = static_rank(filters)
    if rank is None:
        rank = static_rank(input)
    if rank is None:
        raise ValueError("rank of input or filter must be known")
    n = rank - 2
    if not 1 <= n <= 3:
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {rank}.")
    if (static_rank(input) or 0) > rank:  # several dimensions for the batch
        return squeeze_batch_dims(input, lambda flat: convolution_internal(flat, filters, strides, padding, data_format,
                                                                           dilations), n + 1, name)
    channel_index = 1 if channels_first(data_format) else n + 1
    strides = per_dimension(strides, n, channel_index, "strides")
    dilations = per_dimension(dilations, n, channel_index, "dilations")
    with ops.name_scope(name, "convolution", [input, filters]) as name:
        if all(rate == 1 for rate in dilations):
            op = {1: conv1d, 2: gen.conv2d, 3: gen.conv3d}[n]
            how = {} if data_format is None else {"data_format": data_format}
            return op(input, filters, strides, padding=padding, dilations=dilations, name=name, **how)
        inner = slice(2, None) if channel_index == 1 else slice(1, -1)
        op = Convolution(tensor_shape.as_shape(input.shape), tensor_shape.as_shape(filters.shape), padding,
                         strides=strides[inner], dilation_rate=dilations[inner], name=name, data_format=data_format)
        return op(input, filters)


def atrous_conv2d(value, filters, rate, padding, name=None):
    """Convolution of images with filters that have rate - 1 zeros between their values."""
    return convolution(input=value, filter=filters, padding=padding, dilation_rate=np.broadcast_to(rate, (2,)),
                       name=name)


def atrous_conv2d_transpose(value, filters, output_shape, rate, padding, name=None):
    """The transpose of atrous_conv2d."""
    with ops.name_scope(name, "atrous_conv2d_transpose", [value, filters, output_shape]) as name:
        value = ops.convert_to_tensor(value, name="value")
        filters = ops.convert_to_tensor(filters, name="filters")
        if not value.get_shape().dims[3].is_compatible_with(filters.get_shape()[3]):
            raise ValueError("value's input channels does not match filters' input channels, "
                             f"{value.get_shape()[3]} != {filters.get_shape()[3]}")
        if rate < 1:
            raise ValueError(f"rate {rate} cannot be less than one")
        if rate == 1:
            return conv2d_transpose(value, filters, output_shape, strides=[1, 1, 1, 1], padding=padding)
        as_tensor = ops.convert_to_tensor(output_shape, name="output_shape")
        if not as_tensor.get_shape().is_compatible_with(tensor_shape.TensorShape([4])):
            raise ValueError(f"output_shape must have shape (4,), got {as_tensor.get_shape()}")
        if isinstance(output_shape, (list, tuple, np.ndarray)):
            output_shape = list(output_shape) if isinstance(output_shape, tuple) else output_shape
            if not filters.get_shape().dims[2].is_compatible_with(output_shape[3]):
                raise ValueError("output_shape does not match filter's output channels, "
                                 f"{output_shape[3]} != {filters.get_shape()[2]}")
        if padding not in ("SAME", "VALID"):
            raise ValueError(f"padding must be either VALID or SAME: {padding}")
        before, after = [0, 0], [0, 0]
        if padding == "SAME":
            known = filters.get_shape().is_fully_defined()
            size = filters.get_shape().as_list() if known else array_ops.shape(filters)
            height, width = size[0], size[1]
            grown = [height + (height - 1) * (rate - 1), width + (width - 1) * (rate - 1)]
            total = [grown[0] - 1, grown[1] - 1]
            for i in (0, 1):
                before[i] = total[i] // 2
                after[i] = total[i] - before[i]
        sizes = [output_shape[1] + before[0] + after[0], output_shape[2] + before[1] + after[1]]
        extra = [(rate - size % rate) % rate for size in sizes]
        value = array_ops.space_to_batch(input=value, paddings=[[0, extra[0]], [0, extra[1]]], block_size=rate)
        blocks = [rate * rate * output_shape[0], (sizes[0] + extra[0]) // rate, (sizes[1] + extra[1]) // rate,
                  output_shape[3]]
        value = gen.conv2d_backprop_input(blocks, filters, value, strides=[1, 1, 1, 1], padding="VALID",
                                          data_format="NHWC")
        crops = [[before[0], after[0] + extra[0]], [before[1], after[1] + extra[1]]]
        return array_ops.batch_to_space(input=value, crops=crops, block_size=rate)
