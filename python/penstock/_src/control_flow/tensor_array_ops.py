"""TensorArray: an array of tensors that loops read and write."""
import contextlib
import functools
import inspect

from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.graph import tensor_util
from penstock._src.core_ops import array_ops
from penstock._src.graph import control_flow_util
from penstock._src.core_ops import math_ops
from penstock._src.base import tf_logging as logging


def _check_arguments(size, handle, flow, given):
    """ValueError for arguments that do not go with a handle, or lack of one."""
    if handle is None:
        if size is None:
            raise ValueError("Size must be provided if handle is not provided")
        return
    if given["tensor_array_name"]:
        raise ValueError("Cannot construct with both handle and tensor_array_name")
    if not isinstance(handle, ops.Tensor):
        raise TypeError("Handle must be a Tensor")
    if size is not None:
        raise ValueError("Cannot provide both a handle and size at the same time")
    for name in ("element_shape", "dynamic_size", "clear_after_read"):
        if given[name] is not None:
            raise ValueError(f"Cannot provide both a handle and {name} at the same time")
    if flow is None:
        raise ValueError("flow must not be None if handle is not None.")


def _is_list(*args, handle=None, flow=None, **kwargs):
    """Whether an array of these arguments is a list: where control flow consists of functions, and as its flow says."""
    flow = args[6] if len(args) > 6 else flow
    if flow is not None:
        return getattr(flow, "dtype", None) == dtypes.variant
    if ops.executing_eagerly():
        return False
    return handle is None and len(args) < 6 and control_flow_util.EnableControlFlowV2(ops.get_default_graph())


def _check_type(value, dtype):
    if value.dtype.base_dtype != dtype:
        logging.error("Error: Input value %s has dtype %s, but expected dtype %s. This leads to undefined behavior and "
                      "will be an error in future versions of TensorFlow.", value, value.dtype, dtype)


def _of_its_kind(method):
    """The method of an array's own class, whose name programs may not know: they call `tf.TensorArray.stack(array)`."""
    @functools.wraps(method)
    def call(self, *args, **kwargs):
        own = getattr(type(self), method.__name__)
        return (method if own is call else own)(self, *args, **kwargs)
    return call


class TensorArray(object):
    """An array of tensors of type `dtype`, each written at most once; `flow` orders what is done with it.

    Writing returns the array as it is then, which is to be used from there on. size: how many elements; with
    dynamic_size writes may make it longer. clear_after_read: an element is gone when it has been read.
    infer_shape: all elements have one shape. handle, flow: of an array that exists.
    """

    def __new__(cls, *args, **kwargs):
        if cls is TensorArray and _is_list(*args, **kwargs):
            from penstock._src.control_flow.tensor_array_lists import ListTensorArray
            cls = ListTensorArray
        elif cls is TensorArray and ops.executing_eagerly():
            from penstock._src.control_flow.tensor_array_eager import EagerTensorArray
            cls = EagerTensorArray
        return object.__new__(cls)

    def __init__(self, dtype, size=None, dynamic_size=None, clear_after_read=None, tensor_array_name=None, handle=None,
                 flow=None, infer_shape=True, element_shape=None, colocate_with_first_write_call=True, name=None):
        _check_arguments(size, handle, flow, dict(tensor_array_name=tensor_array_name, element_shape=element_shape,
                                                  dynamic_size=dynamic_size, clear_after_read=clear_after_read))
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size = dynamic_size or False
        self._infer_shape = infer_shape
        # Shared, as is the value that the array is colocated with, by all that stand for one array.
        self._element_shape = [tensor_shape.as_shape(element_shape)]
        self._colocate_with_first_write_call = colocate_with_first_write_call
        self._colocate_with = [] if colocate_with_first_write_call else None
        with ops.name_scope(name, "TensorArray", [handle, size, flow]) as scope:
            if handle is not None:
                self._handle, self._flow = handle, flow
                return
            with contextlib.ExitStack() as anywhere:
                if colocate_with_first_write_call:
                    # It goes where its first element is.
                    anywhere.enter_context(ops.device(None))
                    anywhere.enter_context(ops.colocate_with(None, ignore_existing=True))
                self._handle, self._flow = gen.tensor_array_v3(
                    dtype=dtype, size=size, element_shape=element_shape, identical_element_shapes=infer_shape,
                    dynamic_size=self._dynamic_size,
                    clear_after_read=True if clear_after_read is None else clear_after_read,
                    tensor_array_name=tensor_array_name or "", name=scope)

    @property
    def flow(self):
        """The scalar that says what has been done with the array."""
        return self._flow

    @property
    def dtype(self):
        """The type of the elements."""
        return self._dtype

    @property
    def handle(self):
        """What names the array when it runs."""
        return self._handle

    @property
    def element_shape(self):
        """What is known of the elements' shape."""
        return self._element_shape[0]

    @property
    def _implementation(self):
        return self

    def _check_element_shape(self, shape):
        if not shape.is_compatible_with(self.element_shape):
            raise ValueError(f"Inconsistent shapes: saw {shape} but expected {self.element_shape} ")
        if self._infer_shape:
            self._element_shape[0] = self.element_shape.merge_with(shape)

    @contextlib.contextmanager
    def _beside_first_write(self, value):
        if not self._colocate_with_first_write_call:
            yield
            return
        if not self._colocate_with:
            self._colocate_with.append(value)
        with ops.colocate_with(self._colocate_with[0]):
            yield

    def _with_flow(self, flow):
        result = TensorArray(dtype=self._dtype, handle=self._handle, flow=flow, infer_shape=self._infer_shape,
                             colocate_with_first_write_call=self._colocate_with_first_write_call)
        result._dynamic_size = self._dynamic_size
        result._colocate_with = self._colocate_with
        result._element_shape = self._element_shape
        return result

    def mark_used(self):
        """Says that it is no mistake when nothing uses this array any more; nothing here would warn."""

    @_of_its_kind
    def identity(self):
        """The array as it is, later: what runs before this is waited for."""
        return self._with_flow(array_ops.identity(self._flow))

    @_of_its_kind
    def grad(self, source, flow=None, name=None):
        """The array of this one's gradients, one for each `source`."""
        if flow is None:
            flow = self.flow  # an array that may grow has its gradients made when it has its size
        with ops.name_scope(name, "TensorArrayGrad", [self._handle]), ops.colocate_with(self._handle):
            handle, _ = gen.tensor_array_grad_v3(handle=self._handle, source=source, flow_in=flow, name=name)
            with ops.control_dependencies([handle]):
                flow = array_ops.identity(flow, name="gradient_flow")
            result = TensorArray(dtype=self._dtype, handle=handle, flow=flow, infer_shape=self._infer_shape,
                                 colocate_with_first_write_call=False)
            result._element_shape = self._element_shape
            return result

    @_of_its_kind
    def read(self, index, name=None):
        """The element `index`."""
        value = gen.tensor_array_read_v3(handle=self._handle, index=index, flow_in=self._flow, dtype=self._dtype,
                                         name=name)
        value.set_shape(self.element_shape)
        return value

    @_of_its_kind
    def write(self, index, value, name=None):
        """The array with `value` as element `index`."""
        with ops.name_scope(name, "TensorArrayWrite", [self._handle, index, value]):
            value = ops.convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
            _check_type(value, self._dtype)
            self._check_element_shape(value.shape)
            with self._beside_first_write(value):
                flow = gen.tensor_array_write_v3(handle=self._handle, index=index, value=value, flow_in=self._flow,
                                                 name=name)
            return self._with_flow(flow)

    @_of_its_kind
    def stack(self, name=None):
        """All elements, along a new first dimension."""
        with ops.colocate_with(self._handle), ops.name_scope(name, "TensorArrayStack", [self._handle]):
            return self.gather(math_ops.range(0, self.size()), name=name)

    @_of_its_kind
    def gather(self, indices, name=None):
        """The elements `indices`, along a new first dimension."""
        value = gen.tensor_array_gather_v3(handle=self._handle, indices=indices, flow_in=self._flow, dtype=self._dtype,
                                           name=name, element_shape=self.element_shape)
        if self.element_shape.ndims is not None:
            value.set_shape([None] + self.element_shape.as_list())
        return value

    @_of_its_kind
    def concat(self, name=None):
        """All elements, joined along their first dimension."""
        value, _ = gen.tensor_array_concat_v3(handle=self._handle, flow_in=self._flow, dtype=self._dtype, name=name,
                                              element_shape_except0=self.element_shape[1:])
        if self.element_shape.ndims is not None:
            value.set_shape([None] + self.element_shape.as_list()[1:])
        return value

    @_of_its_kind
    def unstack(self, value, name=None):
        """The array with the rows of `value` as elements."""
        with ops.name_scope(name, "TensorArrayUnstack", [self._handle, value]):
            count = array_ops.shape(value)[0]
            return self.scatter(indices=math_ops.range(0, count), value=value, name=name)

    @_of_its_kind
    def scatter(self, indices, value, name=None):
        """The array with the rows of `value` as elements `indices`."""
        with ops.name_scope(name, "TensorArrayScatter", [self._handle, value, indices]):
            value = ops.convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
            _check_type(value, self._dtype)
            self._check_element_shape(value.shape[1:])
            with self._beside_first_write(value):
                flow = gen.tensor_array_scatter_v3(handle=self._handle, indices=indices, value=value,
                                                   flow_in=self._flow, name=name)
            return self._with_flow(flow)

    @_of_its_kind
    def split(self, value, lengths, name=None):
        """The array with pieces of `value`, of these lengths, as elements."""
        with ops.name_scope(name, "TensorArraySplit", [self._handle, value, lengths]):
            value = ops.convert_to_tensor(value, dtype=self._dtype, name="value")
            with self._beside_first_write(value):
                lengths = math_ops.cast(lengths, dtypes.int64)
                known = tensor_util.constant_value(lengths)
                if value.shape.dims is not None and known is not None and known.shape and known.max() == known.min():
                    self._check_element_shape(
                        tensor_shape.TensorShape([known[0]]).concatenate(value.shape[1:]))
                flow = gen.tensor_array_split_v3(handle=self._handle, value=value, lengths=lengths, flow_in=self._flow,
                                                 name=name)
            return self._with_flow(flow)

    @_of_its_kind
    def size(self, name=None):
        """How many elements there are."""
        return gen.tensor_array_size_v3(handle=self._handle, flow_in=self.flow, name=name)

    @_of_its_kind
    def close(self, name=None):
        """An operation that frees the elements."""
        return gen.tensor_array_close_v3(handle=self._handle, name=name)


# That of __init__: __new__, which chooses the class, would hide it.
TensorArray.__signature__ = inspect.Signature(list(inspect.signature(TensorArray.__init__).parameters.values())[1:])


def build_ta_with_new_flow(old_ta, flow):
    """The array after what `flow` says."""
    return old_ta._with_flow(flow)


def flow_of(value):
    """The flow of an array; anything else as it is."""
    return value.flow if isinstance(value, TensorArray) else value


def with_flows(originals, values):
    """`values`, with flows made arrays where `originals` has arrays."""
    if len(originals) != len(values):
        raise ValueError("Lengths of original Tensor list and new list do not match: %d vs. %d" %
                         (len(originals), len(values)))
    return [old._with_flow(new) if isinstance(old, TensorArray) and not isinstance(new, TensorArray) else new
            for old, new in zip(originals, values)]
