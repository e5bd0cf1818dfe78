"""RefVariable: a variable whose node hands out a reference to its buffer (VariableV2), version 1's default."""
import functools

from penstock._src.graph import gen
from penstock._src.graph.definitions import op_functions
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import state_ops
from penstock._src.ops.state import variables
from penstock._src.ops.state.initial_value_guard import guarded_initial_value
from penstock._src.base import tf_logging as logging


class RefVariable(variables.VariableV1):
    """A variable made of `NAME` (VariableV2), `NAME/Assign` and `NAME/read`, as TensorFlow 1 names them."""

    def __init__(self, initial_value=None, trainable=None, collections=None, validate_shape=True, caching_device=None,
                 name=None, variable_def=None, dtype=None, expected_shape=None, import_scope=None, constraint=None,
                 synchronization=None, aggregation=None, shape=None):
        self._in_graph_mode = True
        self._graph_key = ops.get_default_graph()._graph_key
        if variable_def:
            if initial_value:
                raise ValueError("variable_def and initial_value are mutually exclusive.")
            self._init_from_proto(variable_def, import_scope)
            return
        if initial_value is None:
            raise ValueError(variables.lacks_initial_value())
        collections = variables.checked_collections(collections, False, constraint)
        self._synchronization, self._aggregation, self._trainable = (
            variables.validate_synchronization_aggregation_trainable(synchronization, aggregation, trainable, name))
        collections = variables.checked_collections(collections, self._trainable, None)
        self._caching_device = caching_device
        self._save_slice_info = None
        self._constraint = constraint
        with ops.init_scope():
            self._add_nodes(initial_value, name, dtype, shape, validate_shape)
            ops.add_to_collections(collections, self)

    def _add_nodes(self, initial_value, name, dtype, shape, validate_shape):
        from_function = callable(initial_value)
        with ops.name_scope(name, "Variable", [] if from_function else [initial_value]) as name:
            if from_function:
                with variables.colocated_with_name(ops.name_from_scope_name(name)):
                    with ops.name_scope("Initializer"), ops.device(None):
                        self._initial_value = ops.convert_to_tensor(initial_value(), name="initial_value", dtype=dtype)
                    self._variable = self._variable_node(name, shape, validate_shape)
            else:
                self._initial_value = ops.convert_to_tensor(initial_value, name="initial_value", dtype=dtype)
                variables.refuse_control_flow_initializer(self._initial_value, name)
                self._variable = self._variable_node(name, shape, validate_shape)
            if validate_shape and not self._initial_value.get_shape().is_fully_defined():
                raise ValueError("initial_value must have a shape specified: %s" % self._initial_value)
            self._initializer_op = state_ops.assign(
                self._variable, guarded_initial_value(name, self._initial_value), validate_shape=validate_shape).op
            where = (ops.device(self._caching_device) if self._caching_device is not None
                     else ops.colocate_with(self._variable.op))
            with where:
                self._snapshot = array_ops.identity(self._variable, name="read")

    def _variable_node(self, name, shape, validate_shape):
        if shape is None:
            shape = self._initial_value.get_shape() if validate_shape else tensor_shape.unknown_shape()
        return state_ops.variable_op_v2(shape, self._initial_value.dtype.base_dtype, name=name)

    def _init_from_proto(self, variable_def, import_scope):
        graph = ops.get_default_graph()

        def element(name):
            return graph.as_graph_element(ops.prepend_name_scope(name, import_scope=import_scope))

        self._variable = element(variable_def.variable_name)
        self._initializer_op = element(variable_def.initializer_name)
        self._initial_value = element(variable_def.initial_value_name) if variable_def.initial_value_name else None
        self._snapshot = element(variable_def.snapshot_name)
        self._synchronization, self._aggregation, self._trainable = (
            variables.validate_synchronization_aggregation_trainable(
                variable_def.synchronization, variable_def.aggregation, variable_def.trainable,
                variable_def.variable_name))
        self._save_slice_info = None
        if variable_def.HasField("save_slice_info_def"):
            self._save_slice_info = variables.Variable.SaveSliceInfo(
                save_slice_info_def=variable_def.save_slice_info_def, import_scope=import_scope)
        self._caching_device = None
        self._constraint = None

    def to_proto(self, export_scope=None):
        """A VariableDef, or None for a variable outside `export_scope`."""
        if export_scope is not None and not self._variable.name.startswith(export_scope):
            return None
        from penstock.proto import variable_pb2
        var_def = variable_pb2.VariableDef()
        var_def.variable_name = ops.strip_name_scope(self._variable.name, export_scope)
        if self._initial_value is not None:  # None after import from a file that lacks the field
            var_def.initial_value_name = ops.strip_name_scope(self._initial_value.name, export_scope)
        var_def.trainable = self.trainable
        var_def.synchronization = self.synchronization.value
        var_def.aggregation = self.aggregation.value
        var_def.initializer_name = ops.strip_name_scope(self.initializer.name, export_scope)
        var_def.snapshot_name = ops.strip_name_scope(self._snapshot.name, export_scope)
        if self._save_slice_info:
            var_def.save_slice_info_def.MergeFrom(self._save_slice_info.to_proto(export_scope=export_scope))
        return var_def

    # What it is made of

    def _as_graph_element(self):
        return self._variable

    def _ref(self):
        return self._variable

    @property
    def name(self):
        return self._variable.name

    @property
    def device(self):
        return self._variable.device

    @property
    def dtype(self):
        return self._variable.dtype

    @property
    def op(self):
        return self._variable.op

    @property
    def graph(self):
        return self._variable.graph

    @property
    def shape(self):
        return self._variable.get_shape()

    def set_shape(self, shape):
        """Narrows the static shape of the reference and of the value."""
        self._ref().set_shape(shape)
        self.value().set_shape(shape)

    # Reading

    def value(self):
        """The tensor `NAME/read`: computed once a step."""
        return self._snapshot

    def read_value(self):
        """A new read, which sees the assignments that it is ordered after."""
        return array_ops.identity(self._variable, name="read")

    def eval(self, session=None):
        return self._variable.eval(session=session)

    # Writing

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """Sets the variable; the new value as a reference tensor, or the operation if not `read_value`."""
        out = state_ops.assign(self._variable, value, use_locking=use_locking, name=name)
        return out if read_value else out.op

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        """Adds `delta`; returns as `assign`."""
        out = state_ops.assign_add(self._variable, delta, use_locking=use_locking, name=name)
        return out if read_value else out.op

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        """Subtracts `delta`; returns as `assign`."""
        out = state_ops.assign_sub(self._variable, delta, use_locking=use_locking, name=name)
        return out if read_value else out.op

    def _scatter(self, op, sparse_delta, use_locking, name):
        if not isinstance(sparse_delta, ops.IndexedSlices):
            raise TypeError(variables.no_slices(sparse_delta))
        return op(self._variable, sparse_delta.indices, sparse_delta.values, use_locking=use_locking, name=name)

    def scatter_sub(self, sparse_delta, use_locking=False, name=None):
        """Subtracts IndexedSlices from the rows they name. The other scatter methods combine otherwise."""
        return self._scatter(gen.scatter_sub, sparse_delta, use_locking, name)

    def scatter_add(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(gen.scatter_add, sparse_delta, use_locking, name)

    def scatter_max(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(gen.scatter_max, sparse_delta, use_locking, name)

    def scatter_min(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(gen.scatter_min, sparse_delta, use_locking, name)

    def scatter_mul(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(gen.scatter_mul, sparse_delta, use_locking, name)

    def scatter_div(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(gen.scatter_div, sparse_delta, use_locking, name)

    def scatter_update(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(gen.scatter_update, sparse_delta, use_locking, name)

    def batch_scatter_update(self, sparse_delta, use_locking=False, name=None):
        return state_ops.batch_scatter_update(self, sparse_delta.indices, sparse_delta.values,
                                              use_locking=use_locking, name=name)

    def scatter_nd_sub(self, indices, updates, name=None):
        """Subtracts `updates` at the positions that the last dimension of `indices` names."""
        return gen.scatter_nd_sub(self._variable, indices, updates, use_locking=True, name=name)

    def scatter_nd_add(self, indices, updates, name=None):
        return gen.scatter_nd_add(self._variable, indices, updates, use_locking=True, name=name)

    def scatter_nd_update(self, indices, updates, name=None):
        return gen.scatter_nd_update(self._variable, indices, updates, use_locking=True, name=name)

    def _strided_slice_assign(self, begin, end, strides, value, name, begin_mask, end_mask, ellipsis_mask,
                              new_axis_mask, shrink_axis_mask):
        return gen.strided_slice_assign(
            ref=self._ref(), begin=begin, end=end, strides=strides, value=value, name=name, begin_mask=begin_mask,
            end_mask=end_mask, ellipsis_mask=ellipsis_mask, new_axis_mask=new_axis_mask,
            shrink_axis_mask=shrink_axis_mask)

    def count_up_to(self, limit):
        """The value, which then grows by one; OutOfRangeError at `limit`."""
        return state_ops.count_up_to(self._variable, limit=limit)


def _warns_and_computes(symbol, operator):
    # `v += 1` makes a new tensor and leaves the variable alone, which few expect.
    instead = {"+": "variable.assign_add", "-": "variable.assign_sub"}.get(
        symbol, "`var.assign(var %s other)`" % symbol)

    def method(self, other):
        logging.log_first_n(
            logging.WARN, "Variable %s= will be deprecated. Use %s to change the variable, or 'x = x %s y' for a new "
            "Python Tensor object.", 1, symbol, instead, symbol)
        return operator(self, other)

    return method


def _overload_in_place():
    table = {"__iadd__": ("+", "__add__"), "__isub__": ("-", "__sub__"), "__imul__": ("*", "__mul__"),
             "__idiv__": ("/", "__div__"), "__itruediv__": ("/", "__truediv__"),
             "__irealdiv__": ("/", "__truediv__"), "__ipow__": ("**", "__pow__")}
    for in_place, (symbol, plain) in table.items():
        plain_method = getattr(RefVariable, plain)
        method = functools.wraps(plain_method, assigned=())(_warns_and_computes(symbol, plain_method))
        method.__name__ = in_place
        setattr(RefVariable, in_place, method)


_overload_in_place()
op_functions.variables_hold_tensors(RefVariable, RefVariable.value, RefVariable._ref)
