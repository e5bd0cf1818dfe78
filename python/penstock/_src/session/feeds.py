"""What session.run may be fed: how a value becomes an array for a tensor, with TensorFlow's checks."""
import numpy as np

from penstock._src.session.tensor_handle import TensorHandle
from penstock._src.graph import dtypes
from penstock._src.graph import tensor_shape
from penstock._src.graph import tensor_values
from penstock._src.graph.tensor import Tensor


def find_tensor(graph, feed):
    """The tensor that a key of feed_dict is or stands for. TypeError if there is none."""
    try:
        return graph.as_graph_element(feed, allow_tensor=True, allow_operation=False)
    except Exception as e:
        raise TypeError(f"Cannot interpret feed_dict key as Tensor: {e.args[0] if e.args else e}") from None


def _loses_value(kind, value):
    """Whether an int does not survive the conversion to an array's type."""
    if kind is object:
        return str(value) != value
    try:
        return kind(value) != value
    except OverflowError:
        return True


def to_array(tensor, value):
    """`value` as an array for `tensor`, the type checked but not the shape. TypeError, ValueError if it cannot be
    one."""
    if isinstance(value, Tensor):
        raise TypeError("The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python "
                        "scalars, strings, lists, numpy ndarrays, or TensorHandles. For reference, the tensor object "
                        f"was {value} which was passed to the feed with key {tensor}.")
    if isinstance(value, TensorHandle):
        value = value.eval()
    dtype = tensor._dtype
    if dtype._base == 21:
        raise TypeError(f"A variant tensor cannot be fed: {tensor.name}")
    kind = dtype.as_numpy_dtype
    if isinstance(value, int) and isinstance(kind, type) and _loses_value(kind, value):
        raise TypeError(f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type "
                        f"{kind}. Try explicitly setting the type of the feed tensor to a larger type (e.g. int64).")
    if dtype._base == 14 and not isinstance(dtypes.np_bfloat16, type):
        array = np.asarray(value)
        return array if array.dtype == kind else tensor_values.bfloat16_bits(array.astype(np.float32))
    return np.asarray(value, dtype=kind)


def check_shape(tensor, shape):
    """ValueError unless the static shape of `tensor` allows `shape`."""
    static = tensor.shape
    if not static.is_compatible_with(tensor_shape.TensorShape(shape)):
        raise ValueError(f"Cannot feed value of shape {shape!r} for Tensor {tensor.name!r}, which has shape "
                         f"{str(static)!r}")


def converter(tensor):
    """A function from a fed value to an array for `tensor`, quick for arrays of the right type and shape."""
    dtype = tensor._dtype
    kind = dtype.as_numpy_dtype if dtype._base != 21 else None
    wanted = np.dtype(kind) if kind is not None else None
    static = tensor.shape
    exact = static._values if static.is_fully_defined() else None
    anything = static.rank is None

    def convert(value, ndarray=np.ndarray):
        if type(value) is ndarray and value.dtype == wanted:
            array = value
        else:
            array = to_array(tensor, value)
        if not anything and array.shape != exact:
            check_shape(tensor, array.shape)
        return array
    return convert
