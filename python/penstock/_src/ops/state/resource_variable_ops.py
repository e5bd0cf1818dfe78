"""ResourceVariable: a variable behind a handle; reads and writes are nodes of their own, ordered by control edges."""
import contextlib
import functools

import numpy as np

from penstock import _core
from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.base import tf2
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import state_ops
from penstock._src.ops.state import variables
from penstock._src.ops.state.initial_value_guard import guarded_initial_value
from penstock._src.graph.variable_spec import VariableSpec  # noqa: F401


def variable_handle_from_shape_and_dtype(shape, dtype, shared_name, name, graph_mode=True, extra_handle_data=None):
    """A VarHandleOp in the graph's container."""
    container = ops.get_default_graph()._container or ""
    return gen.var_handle_op(shape=shape, dtype=dtype, shared_name=shared_name, name=name, container=container)


def shape_safe_assign_variable_handle(handle, shape, value, name=None):
    """Assigns to a handle after a check that `value` fits the static `shape`."""
    with _handle_graph(handle):
        value = ops.convert_to_tensor(value)
    shape.assert_is_compatible_with(value.shape)
    return gen.assign_variable_op(handle, value, name=name)


@contextlib.contextmanager
def _handle_graph(handle):
    if ops.has_default_graph() or ops.executing_eagerly():
        yield
    else:
        with handle.graph.as_default():
            yield


class BaseResourceVariable(variables.VariableV1):
    """What a resource variable can do, however its handle came about."""

    _should_act_as_resource_variable = True

    def __init__(self, trainable=None, shape=None, dtype=None, handle=None, constraint=None, synchronization=None,
                 aggregation=None, distribute_strategy=None, name=None, unique_id=None, handle_name=None,
                 graph_element=None, initial_value=None, initializer_op=None, is_initialized_op=None,
                 cached_value=None, save_slice_info=None, handle_deleter=None, **unused_kwargs):
        self._in_graph_mode = not ops.executing_eagerly()
        self._synchronization, self._aggregation, self._trainable = (
            variables.validate_synchronization_aggregation_trainable(synchronization, aggregation, trainable, name))
        self._save_slice_info = save_slice_info
        self._initial_value = initial_value
        self._initializer_op = initializer_op
        self._is_initialized_op = is_initialized_op
        self._graph_element = graph_element
        self._cached_value = cached_value
        self._graph_key = ops.get_default_graph()._graph_key
        self._shape = tensor_shape.as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._handle = handle
        self._unique_id = unique_id
        self._handle_name = handle_name + ":0"
        self._constraint = constraint
        self._handle_deleter = handle_deleter

    def __repr__(self):
        if self._in_graph_mode or not ops.executing_eagerly():
            return super().__repr__()
        value = self.read_value()._value_text() if self.is_initialized() else "numpy=<unprintable>"
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}, {value}>"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        if not ops.executing_eagerly():
            raise NotImplementedError("__deepcopy__() is only available when eager execution is enabled.")
        copied = ResourceVariable(initial_value=self.read_value(), trainable=self._trainable,
                                  constraint=self._constraint, dtype=self._dtype, name=self._handle_name[:-2])
        memo[id(self)] = copied
        return copied

    def __reduce__(self):
        """A pickle holds the value; eager mode only."""
        return functools.partial(ResourceVariable, initial_value=self.numpy(), trainable=self.trainable,
                                 name=self._shared_name, dtype=self.dtype, constraint=self.constraint), ()

    def __bool__(self):
        return bool(self.read_value())

    # What it is made of

    @property
    def dtype(self):
        return self._dtype

    @property
    def device(self):
        return self._handle.device

    @property
    def graph(self):
        return self._handle.graph

    @property
    def name(self):
        return self._handle_name

    @property
    def shape(self):
        return self._shape

    @property
    def handle(self):
        """The scalar tensor that names the variable to the runtime."""
        return self._handle

    @property
    def op(self):
        return self._handle.op

    @property
    def _shared_name(self):
        """The name without an output's number."""
        return self._handle_name[:self._handle_name.index(":")]

    @property
    def create(self):
        return self._initializer_op

    def _shape_as_list(self):
        return None if self.shape.ndims is None else [dim.value for dim in self.shape.dims]

    def _shape_tuple(self):
        return None if self.shape.ndims is None else tuple(self._shape_as_list())

    def _as_graph_element(self):
        return self._graph_element

    def set_shape(self, shape):
        """Narrows the static shape of a variable of eager execution. NotImplementedError in graphs."""
        if self._in_graph_mode:
            raise NotImplementedError("ResourceVariable does not implement set_shape()")
        self._shape = self._shape.merge_with(shape)

    def is_initialized(self, name=None):
        """A scalar bool tensor: whether the variable has a value."""
        return gen.var_is_initialized_op(self.handle, name=name)

    # Reading

    def _watch(self):
        ops.get_default_graph().watch_variable(self)

    def _read_variable_op(self):
        self._watch()
        return gen.read_variable_op(self._handle, self._dtype)

    def value(self):
        """The value, read where the handle lives, without regard to colocation around the call."""
        if not self._in_graph_mode:
            return self._read_variable_op()
        if self._cached_value is not None:
            return self._cached_value
        with ops.colocate_with(None, ignore_existing=True), ops.device(self._handle.device):
            return self._read_variable_op()

    def read_value(self):
        """A new read, which sees the assignments that it is ordered after."""
        if not self._in_graph_mode:
            return array_ops.identity(self._read_variable_op())
        with ops.name_scope("Read"), ops.device(self._handle.device):
            value = self._read_variable_op()
        # The copy may live elsewhere than the variable.
        return array_ops.identity(value)

    def sparse_read(self, indices, name=None):
        """Only the rows that `indices` names."""
        self._watch()
        with ops.name_scope("Gather" if name is None else name) as name:
            value = gen.resource_gather(self._handle, indices, dtype=self._dtype, name=name)
        return value if tf2.enabled() else array_ops.identity(value)

    def gather_nd(self, indices, name=None):
        """Only the positions that the last dimension of `indices` names."""
        self._watch()
        with ops.name_scope("GatherNd" if name is None else name) as name:
            value = gen.resource_gather_nd(self._handle, indices, dtype=self._dtype, name=name)
        return array_ops.identity(value)

    def eval(self, session=None):
        if not self._in_graph_mode:
            raise RuntimeError("This operation is not supported when eager execution is enabled.")
        return self._graph_element.eval(session=session)

    def numpy(self):
        if ops.executing_eagerly():
            return self.read_value().numpy()
        raise NotImplementedError("numpy() is only available when eager execution is enabled.")

    def count_up_to(self, limit):
        """The value, which then grows by one; OutOfRangeError at `limit`."""
        return gen.resource_count_up_to(self.handle, limit=limit, T=self.dtype)

    # Writing

    def _assign_dependencies(self):
        """A cached value must be read before the variable changes."""
        return ops.control_dependencies([] if self._cached_value is None else [self._cached_value])

    def _lazy_read(self, op):
        self._watch()
        if ops.executing_eagerly():
            return _UpdatedVariable(self)
        return _UnreadVariable(handle=self._handle, dtype=self.dtype, shape=self._shape, in_graph_mode=True,
                               deleter=None, parent_op=op, unique_id=self._unique_id, variable=self)

    def assign(self, value, use_locking=None, name=None, read_value=True):
        """Sets the variable; what is returned reads it afterwards, or is the operation if not `read_value`."""
        with _handle_graph(self.handle):
            value = ops.convert_to_tensor(value, dtype=self.dtype)
            if not self._shape.is_compatible_with(value.shape):
                self._refuse_shape(value.shape)
            op = gen.assign_variable_op(self.handle, value, name=name)
            return self._lazy_read(op) if read_value else op

    def _refuse_shape(self, shape):
        if tf2.enabled():
            raise ValueError(f"Cannot assign value to variable ' {self.name}': Shape mismatch.The variable shape "
                             f"{self._shape}, and the assigned value shape {shape} are incompatible.")
        self._shape.assert_is_compatible_with(shape)

    def assign_add(self, delta, use_locking=None, name=None, read_value=True):
        """Adds `delta`; returns as `assign`."""
        if not self._in_graph_mode and _core.executes_eagerly():
            gen.assign_add_variable_op(self._handle, ops.convert_to_tensor(delta, dtype=self._dtype))
            return self._lazy_read(None) if read_value else None
        with _handle_graph(self.handle), self._assign_dependencies():
            op = gen.assign_add_variable_op(self.handle, ops.convert_to_tensor(delta, dtype=self.dtype), name=name)
        return self._lazy_read(op) if read_value else op

    def assign_sub(self, delta, use_locking=None, name=None, read_value=True):
        """Subtracts `delta`; returns as `assign`."""
        if not self._in_graph_mode and _core.executes_eagerly():
            gen.assign_sub_variable_op(self._handle, ops.convert_to_tensor(delta, dtype=self._dtype))
            return self._lazy_read(None) if read_value else None
        with _handle_graph(self.handle), self._assign_dependencies():
            op = gen.assign_sub_variable_op(self.handle, ops.convert_to_tensor(delta, dtype=self.dtype), name=name)
        return self._lazy_read(op) if read_value else op

    def _scatter(self, op, sparse_delta, name):
        if not isinstance(sparse_delta, ops.IndexedSlices):
            raise TypeError(variables.no_slices(sparse_delta))
        values = ops.convert_to_tensor(sparse_delta.values, self.dtype)
        return self._lazy_read(op(self.handle, sparse_delta.indices, values, name=name))

    def scatter_sub(self, sparse_delta, use_locking=False, name=None):
        """Subtracts IndexedSlices from the rows they name. The other scatter methods combine otherwise."""
        return self._scatter(gen.resource_scatter_sub, sparse_delta, name)

    def scatter_add(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(gen.resource_scatter_add, sparse_delta, name)

    def scatter_max(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(gen.resource_scatter_max, sparse_delta, name)

    def scatter_min(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(gen.resource_scatter_min, sparse_delta, name)

    def scatter_mul(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(gen.resource_scatter_mul, sparse_delta, name)

    def scatter_div(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(gen.resource_scatter_div, sparse_delta, name)

    def scatter_update(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(gen.resource_scatter_update, sparse_delta, name)

    def batch_scatter_update(self, sparse_delta, use_locking=False, name=None):
        if not isinstance(sparse_delta, ops.IndexedSlices):
            raise TypeError(variables.no_slices(sparse_delta))
        return self._lazy_read(state_ops.batch_scatter_update(
            self, sparse_delta.indices, sparse_delta.values, use_locking=use_locking, name=name))

    def _scatter_nd(self, op, indices, updates, name):
        return self._lazy_read(op(self.handle, indices, ops.convert_to_tensor(updates, self.dtype), name=name))

    def scatter_nd_sub(self, indices, updates, name=None):
        """Subtracts `updates` at the positions that the last dimension of `indices` names."""
        return self._scatter_nd(gen.resource_scatter_nd_sub, indices, updates, name)

    def scatter_nd_add(self, indices, updates, name=None):
        return self._scatter_nd(gen.resource_scatter_nd_add, indices, updates, name)

    def scatter_nd_update(self, indices, updates, name=None):
        return self._scatter_nd(gen.resource_scatter_nd_update, indices, updates, name)

    def scatter_nd_max(self, indices, updates, name=None):
        return self._scatter_nd(gen.resource_scatter_nd_max, indices, updates, name)

    def scatter_nd_min(self, indices, updates, name=None):
        return self._scatter_nd(gen.resource_scatter_nd_min, indices, updates, name)

    def _strided_slice_assign(self, begin, end, strides, value, name, begin_mask, end_mask, ellipsis_mask,
                              new_axis_mask, shrink_axis_mask):
        with _handle_graph(self.handle), self._assign_dependencies():
            return self._lazy_read(gen.resource_strided_slice_assign(
                ref=self.handle, begin=begin, end=end, strides=strides,
                value=ops.convert_to_tensor(value, dtype=self.dtype), name=name, begin_mask=begin_mask,
                end_mask=end_mask, ellipsis_mask=ellipsis_mask, new_axis_mask=new_axis_mask,
                shrink_axis_mask=shrink_axis_mask))

    def __iter__(self):
        return super().__iter__() if self._in_graph_mode else iter(self.read_value())

    def __int__(self):
        return int(self.numpy())

    def __float__(self):
        return float(self.numpy())

    def __complex__(self):
        return complex(self.numpy())

    def __array__(self, dtype=None, copy=None):
        value = self.numpy()
        return np.asarray(value, dtype=dtype)

    def _dense_var_to_tensor(self, dtype=None, name=None, as_ref=False):
        if dtype is not None and not dtype.is_compatible_with(self.dtype):
            raise ValueError("Incompatible type conversion requested to type {!r} for variable of type {!r}".format(
                dtype.name, self.dtype.name))
        return self.read_value().op.inputs[0] if as_ref and self._in_graph_mode else self.value()

    # To and from protocol buffers

    def _export_to_saved_model_graph(self, object_map, tensor_map, options):
        device = self.device if options.experimental_variable_policy._save_variable_devices() else None
        with ops.device(device):
            exported = copy_to_graph_uninitialized(self)
        object_map[self] = exported
        tensor_map[self.handle] = exported.handle
        return [self.handle]

    def _serialize_to_tensors(self):
        return {variables.trackable.VARIABLE_VALUE_KEY: self.read_value()}

    def _restore_from_tensors(self, restored_tensors):
        return self.assign(restored_tensors[variables.trackable.VARIABLE_VALUE_KEY], read_value=False)

    def _write_object_proto(self, proto, options):
        """Describes the variable in a SavedModel."""
        if self._save_slice_info is not None:
            raise NotImplementedError("Slices of partitioned variables cannot be saved in a SavedModel of version 2.")
        message = proto.variable
        message.SetInParent()
        if not self.name.endswith(":0"):
            raise ValueError(f"Cowardly refusing to save variable {self.name} because of unexpected suffix in the name "
                             "which won't be restored.")
        message.name = self.name[:-2]
        message.trainable = self.trainable
        message.dtype = self.dtype.as_datatype_enum
        message.synchronization, message.aggregation = self.synchronization.value, self.aggregation.value
        message.shape.CopyFrom(self.shape.as_proto())
        if options.experimental_variable_policy._save_variable_devices():
            message.device = self.device

    def to_proto(self, export_scope=None):
        """A VariableDef, or None for a variable outside `export_scope`."""
        if not self._in_graph_mode:
            raise RuntimeError("This operation is not supported when eager execution is enabled.")
        if export_scope is not None and not self.handle.name.startswith(export_scope):
            return None
        from penstock.proto import variable_pb2

        def strip(element):
            return ops.strip_name_scope(element.name, export_scope)

        var_def = variable_pb2.VariableDef()
        var_def.variable_name = strip(self.handle)
        if self._initial_value is not None:
            var_def.initial_value_name = strip(self._initial_value)
        var_def.initializer_name = strip(self.initializer)
        var_def.snapshot_name = strip(self._graph_element if self._cached_value is None else self._cached_value)
        var_def.is_resource = True
        var_def.trainable = self.trainable
        var_def.synchronization = self.synchronization.value
        var_def.aggregation = self.aggregation.value
        if self._save_slice_info:
            var_def.save_slice_info_def.MergeFrom(self._save_slice_info.to_proto(export_scope=export_scope))
        return var_def

    @staticmethod
    def from_proto(variable_def, import_scope=None):
        return ResourceVariable(variable_def=variable_def, import_scope=import_scope)


def _refuse_in_place():
    table = {"__iadd__": ("+", "variable.assign_add(value)"), "__isub__": ("-", "variable.assign_sub(value)"),
             "__imul__": ("*", ""), "__idiv__": ("/", ""), "__itruediv__": ("/", ""), "__irealdiv__": ("/", ""),
             "__ipow__": ("**", "")}
    for method_name, (symbol, instead) in table.items():
        message = ("Variable %s= value not supported. Use %s to modify the variable and `var = var %s value` to get a "
                   "new Tensor object." % (symbol, instead or "`var.assign(var %s value)`" % symbol, symbol))

        def method(self, unused_other, message=message):
            raise RuntimeError(message)

        method.__name__ = method_name
        setattr(BaseResourceVariable, method_name, method)


_refuse_in_place()
_core.eager_set_variable_class(BaseResourceVariable)


class ResourceVariable(BaseResourceVariable):
    """A variable made of `NAME` (VarHandleOp), `NAME/IsInitialized`, `NAME/Assign` and `NAME/Read`."""

    def __init__(self, initial_value=None, trainable=None, collections=None, validate_shape=True, caching_device=None,
                 name=None, dtype=None, variable_def=None, import_scope=None, constraint=None,
                 distribute_strategy=None, synchronization=None, aggregation=None, shape=None):
        if variable_def:
            if initial_value is not None:
                raise ValueError("variable_def and initial_value are mutually exclusive.")
            self._init_from_proto(variable_def, import_scope)
            return
        self._init_from_args(
            initial_value, trainable, collections, caching_device, name, dtype, constraint, synchronization,
            aggregation, distribute_strategy, shape)

    def _init_from_args(self, initial_value=None, trainable=None, collections=None, caching_device=None, name=None,
                        dtype=None, constraint=None, synchronization=None, aggregation=None, distribute_strategy=None,
                        shape=None):
        synchronization, aggregation, trainable = variables.validate_synchronization_aggregation_trainable(
            synchronization, aggregation, trainable, name)
        if initial_value is None:
            raise ValueError(variables.lacks_initial_value())
        if isinstance(initial_value, ops.Tensor) and not initial_value._is_eager \
                and initial_value.graph.building_function:
            raise ValueError("Tensor-typed variable initializers must either be wrapped in an init_scope or callable "
                             "(e.g., `tf.Variable(lambda : tf.truncated_normal([10, 40]))`) when building functions.")
        collections = variables.checked_collections(collections, trainable, constraint)
        from_function = callable(initial_value)
        with ops.init_scope():
            if ops.executing_eagerly():
                self._init_eagerly(initial_value, trainable, name, dtype, shape, constraint, synchronization,
                                   aggregation)
                return
            with ops.name_scope(name, "Variable", [] if from_function else [initial_value]) as name:
                handle_name = ops.name_from_scope_name(name)
                with variables.colocated_with_name(handle_name):
                    with ops.name_scope("Initializer"), ops.device(None):
                        initial_value = ops.convert_to_tensor(initial_value() if from_function else initial_value,
                                                              name="initial_value", dtype=dtype)
                    if shape is None:
                        shape = initial_value.shape
                    elif not initial_value.shape.is_compatible_with(shape):
                        raise ValueError("The initial value's shape (%s) is not compatible with the explicitly "
                                         "supplied `shape` argument (%s)." % (initial_value.shape, shape))
                    dtype = initial_value.dtype.base_dtype
                    handle = variable_handle_from_shape_and_dtype(shape, dtype, handle_name, name)
                variables.refuse_control_flow_initializer(initial_value, name)
                with ops.name_scope("IsInitialized"):
                    is_initialized_op = gen.var_is_initialized_op(handle)
                with ops.name_scope("Assign") as assign_name:
                    with ops.colocate_with(None, ignore_existing=True), ops.device(handle.device):
                        initializer_op = gen.assign_variable_op(
                            handle, guarded_initial_value(name, initial_value), name=assign_name)
                # Reading by another name than the value's own keeps fetches of the variable stable.
                with ops.name_scope("Read"):
                    with ops.device(handle.device):
                        value = gen.read_variable_op(handle, dtype)
                    cached_value = None
                    if caching_device is not None:
                        with ops.colocate_with(None, ignore_existing=True), ops.device(caching_device):
                            cached_value = array_ops.identity(value)
            ops.add_to_collections(collections, self)
            super().__init__(
                trainable=trainable, shape=shape, dtype=dtype, handle=handle, synchronization=synchronization,
                constraint=constraint, aggregation=aggregation, name=name, unique_id=handle_name,
                handle_name=handle_name, graph_element=value, initial_value=initial_value,
                initializer_op=initializer_op, is_initialized_op=is_initialized_op, cached_value=cached_value)

    def _init_eagerly(self, initial_value, trainable, name, dtype, shape, constraint, synchronization, aggregation):
        with ops.name_scope(name, "Variable") as scope:
            name = ops.name_from_scope_name(scope)
            value = ops.convert_to_tensor(initial_value() if callable(initial_value) else initial_value,
                                          name="initial_value", dtype=dtype)
            if shape is None:
                shape = value.shape
            elif not value.shape.is_compatible_with(shape):
                raise ValueError("The initial value's shape (%s) is not compatible with the explicitly supplied "
                                 "`shape` argument (%s)." % (value.shape, shape))
            dtype = value.dtype.base_dtype
            handle = variable_handle_from_shape_and_dtype(shape, dtype, "", name)
            gen.assign_variable_op(handle, value)
        super().__init__(trainable=trainable, shape=shape, dtype=dtype, handle=handle, synchronization=synchronization,
                         constraint=constraint, aggregation=aggregation, name=name,
                         unique_id=f"{name}_{ops.uid()}", handle_name=name)

    def _init_from_proto(self, variable_def, import_scope):
        if not variable_def.is_resource:
            raise ValueError("Trying to restore Variable as ResourceVariable.")
        graph = ops.get_default_graph()

        def element(name):
            return graph.as_graph_element(ops.prepend_name_scope(name, import_scope=import_scope))

        handle = element(variable_def.variable_name)
        cached_value = None
        if variable_def.snapshot_name:
            snapshot = element(variable_def.snapshot_name)
            if snapshot.op.type != "ReadVariableOp":
                cached_value = snapshot
            while snapshot.op.type != "ReadVariableOp":
                snapshot = snapshot.op.inputs[0]
        else:
            snapshot = graph.get_tensor_by_name(handle.op.name + "/Read/ReadVariableOp:0")
        slice_info = None
        if variable_def.HasField("save_slice_info_def"):
            slice_info = variables.Variable.SaveSliceInfo(
                save_slice_info_def=variable_def.save_slice_info_def, import_scope=import_scope)
        super().__init__(
            trainable=variable_def.trainable, shape=tensor_shape.TensorShape(handle.op.get_attr("shape")),
            dtype=handle.op.get_attr("dtype"), handle=handle, synchronization=variable_def.synchronization,
            aggregation=variable_def.aggregation, name=variable_def.variable_name, unique_id=handle.name,
            handle_name=handle.op.name, graph_element=snapshot, cached_value=cached_value, save_slice_info=slice_info,
            initial_value=element(variable_def.initial_value_name) if variable_def.initial_value_name else None,
            initializer_op=element(variable_def.initializer_name))


class UninitializedVariable(BaseResourceVariable):
    """A resource variable that has no initializer."""

    def __init__(self, trainable=None, caching_device=None, name=None, shape=None, dtype=None, constraint=None,
                 synchronization=None, aggregation=None, extra_handle_data=None, distribute_strategy=None,
                 **unused_kwargs):
        with ops.init_scope(), ops.name_scope(name, "Variable") as name:
            handle_name = unique_id = ops.name_from_scope_name(name)
            value = None
            if ops.executing_eagerly():
                handle = variable_handle_from_shape_and_dtype(shape, dtype, "", handle_name)
                unique_id = f"{handle_name}_{ops.uid()}"
            else:
                handle = variable_handle_from_shape_and_dtype(shape, dtype, handle_name, name)
                with ops.name_scope("Read"), ops.device(handle.device):
                    value = gen.read_variable_op(handle, dtype)
                ops.add_to_collection(ops.GraphKeys.GLOBAL_VARIABLES, self)
        super().__init__(shape=shape, dtype=dtype, unique_id=unique_id, handle_name=handle_name,
                         constraint=constraint, handle=handle, graph_element=value, trainable=trainable,
                         synchronization=synchronization, aggregation=aggregation)


class _UnreadVariable(BaseResourceVariable):
    """The variable as it is after an assignment: whoever reads it waits for the assignment."""

    def __init__(self, handle, dtype, shape, in_graph_mode, deleter, parent_op, unique_id, variable=None):
        self._parent_op = parent_op
        self._variable = variable  # which lives as long as what reads it
        graph_element = None
        if not ops.get_default_graph().building_function:
            with ops.control_dependencies([parent_op]):
                graph_element = gen.read_variable_op(handle, dtype)
        name = handle.op.name if not handle._is_eager else parent_op.name
        super().__init__(handle=handle, shape=shape, handle_name=name, unique_id=unique_id, dtype=dtype,
                         graph_element=graph_element, trainable=variable is None or variable.trainable)

    @property
    def name(self):
        return self._parent_op.name

    @property
    def op(self):
        return self._parent_op

    def value(self):
        return self._read_variable_op()

    def read_value(self):
        return self._read_variable_op()

    def _read_variable_op(self):
        if self._variable is not None:
            self._variable._watch()
        with ops.control_dependencies([self._parent_op]):
            return gen.read_variable_op(self._handle, self._dtype)


class _UpdatedVariable(BaseResourceVariable):
    """What an assignment returns eagerly: the same variable, without a name of its own and without an operation."""

    def __init__(self, variable):
        self.__dict__ = variable.__dict__

    @property
    def name(self):
        return "UnreadVariable"

    @property
    def op(self):
        return None


def variable_shape(handle, out_type=dtypes.int32):
    """The shape of the variable behind a handle, as a constant if it is known."""
    data = ops.get_resource_handle_data(handle)
    shape = tensor_shape.as_shape(data[0][1]) if data else tensor_shape.unknown_shape()
    if not shape.is_fully_defined():
        return gen.variable_shape(handle, out_type=out_type)
    return constant_op.constant(shape.as_list(), dtype=out_type)


def is_resource_variable(var):
    """Whether `var` is a variable behind a handle."""
    return isinstance(var, BaseResourceVariable) or hasattr(var, "_should_act_as_resource_variable")


def copy_to_graph_uninitialized(var):
    """A variable like `var` in the default graph, without a value."""
    return UninitializedVariable(trainable=var.trainable, constraint=var._constraint, shape=var.shape, dtype=var.dtype,
                                 name=var._shared_name, synchronization=var.synchronization,
                                 aggregation=var.aggregation)


def _dense_var_to_tensor(var, dtype=None, name=None, as_ref=False):
    return var._dense_var_to_tensor(dtype=dtype, name=name, as_ref=as_ref)


def _to_proto_fn(v, export_scope=None):
    return v.to_proto(export_scope=export_scope)


def _from_proto_fn(v, import_scope=None):
    kind = ResourceVariable if v.is_resource else variables.Variable
    return kind.from_proto(v, import_scope=import_scope)


def _register():
    # Before that of all variables, which asks for a reference.
    ops.register_tensor_conversion_function(BaseResourceVariable, _dense_var_to_tensor, priority=99)
    ops.register_dense_tensor_like_type(BaseResourceVariable)
    keys = ops.GraphKeys
    from penstock.proto import variable_pb2
    for key in (keys.GLOBAL_VARIABLES, keys.TRAINABLE_VARIABLES, keys.MOVING_AVERAGE_VARIABLES, keys.LOCAL_VARIABLES,
                keys.MODEL_VARIABLES, keys.GLOBAL_STEP, keys.METRIC_VARIABLES):
        ops.register_proto_function(key, proto_type=variable_pb2.VariableDef, to_proto=_to_proto_fn,
                                    from_proto=_from_proto_fn)


_register()
