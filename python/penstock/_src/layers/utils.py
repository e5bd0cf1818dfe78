"""Checks of arguments that several layers share, and the sizes of their outputs."""
from penstock._src.graph import ops
from penstock._src.control_flow import smart_cond as smart_module
from penstock._src.graph import tensor_util
from penstock._src.control_flow import cond as cond_lib
from penstock._src.ops.state import variables


def normalize_tuple(value, n, name):
    """`value`, an int or a sequence of `n` ints, as a tuple of `n` ints."""
    if isinstance(value, int):
        return (value,) * n
    try:
        values = tuple(value)
    except TypeError:
        raise ValueError("The `" + name + "` argument must be a tuple of " + str(n) + " integers. Received: " +
                         str(value))
    if len(values) != n:
        raise ValueError("The `" + name + "` argument must be a tuple of " + str(n) + " integers. Received: " +
                         str(value))
    for single in values:
        try:
            int(single)
        except (ValueError, TypeError):
            raise ValueError("The `" + name + "` argument must be a tuple of " + str(n) + " integers. Received: " +
                             str(value) + " including element " + str(single) + " of type " + str(type(single)))
    return values


def normalize_data_format(value):
    """channels_first or channels_last."""
    lowered = "channels_last" if value is None else value.lower()
    if lowered not in ("channels_first", "channels_last"):
        raise ValueError("The `data_format` argument must be one of \"channels_first\", \"channels_last\". Received: " +
                         str(value))
    return lowered


def normalize_padding(value):
    """valid, same or causal."""
    if isinstance(value, (list, tuple)):
        return value
    lowered = value.lower()
    if lowered not in ("valid", "same", "causal"):
        raise ValueError("The `padding` argument must be a list/tuple or one of \"valid\", \"same\" (or \"causal\", "
                         "only for `Conv1D). Received: " + str(lowered))
    return lowered


def convert_data_format(data_format, ndim):
    """NHWC and its like for channels_last, NCHW and its like for channels_first."""
    names = {("channels_last", 3): "NWC", ("channels_last", 4): "NHWC", ("channels_last", 5): "NDHWC",
             ("channels_first", 3): "NCW", ("channels_first", 4): "NCHW", ("channels_first", 5): "NCDHW"}
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError("Invalid data_format:", data_format)
    if (data_format, ndim) not in names:
        raise ValueError("Input rank not supported:", ndim)
    return names[data_format, ndim]


def conv_output_length(input_length, filter_size, padding, stride, dilation=1):
    """The length that a convolution or pooling leaves; None if unknown."""
    if input_length is None:
        return None
    assert padding in ("same", "valid", "full", "causal")
    reach = filter_size + (filter_size - 1) * (dilation - 1)
    if padding in ("same", "causal"):
        length = input_length
    elif padding == "valid":
        length = input_length - reach + 1
    else:
        length = input_length + reach - 1
    return (length + stride - 1) // stride


def conv_input_length(output_length, filter_size, padding, stride):
    """The length from which a convolution makes `output_length`."""
    if output_length is None:
        return None
    assert padding in ("same", "valid", "full")
    pad = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]
    return (output_length - 1) * stride - 2 * pad + filter_size


def deconv_output_length(input_length, filter_size, padding, stride, dilation=1):
    """The length (number or tensor) that a transposed convolution makes."""
    if input_length is None:
        return None
    reach = filter_size + (filter_size - 1) * (dilation - 1)
    if padding == "valid":
        return input_length * stride + max(reach - stride, 0)
    if padding == "full":
        return input_length * stride - (stride + reach - 2)
    return input_length * stride


def smart_cond(pred, true_fn=None, false_fn=None, name=None):
    """One of the branches if `pred` is known when the graph is built, else a conditional."""
    if isinstance(pred, variables.Variable):
        return cond_lib.cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return smart_module.smart_cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)


def constant_value(pred):
    """`pred` as a bool if it is known when the graph is built, else None."""
    if isinstance(pred, variables.Variable):
        return None
    if isinstance(pred, ops.Tensor):
        return tensor_util.constant_value(pred)
    if pred in (0, 1):
        return bool(pred)
    raise TypeError("`pred` must be a Tensor, a Python bool, or 1 or 0. Found instead: %s" % type(pred))


def get_reachable_from_inputs(inputs, targets=None):
    """The set of tensors that are computed from `inputs` (tensors or variables), these included; at least up to those
    of `targets`."""
    reached, wanted = set(inputs), set(targets or ())
    queue = list(inputs)
    while queue:
        x = queue.pop(0)
        for op in x.consumers() if hasattr(x, "consumers") else [x.op]:
            fresh = [y for y in op.outputs if y not in reached]
            reached.update(fresh)
            queue += fresh
        if wanted and wanted <= reached:
            break
    return reached
