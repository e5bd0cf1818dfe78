"""What all variables share: the factories `Variable` and `VariableV1`, their interface, and the collections of
variables.

`VariableV1(...)` builds a `RefVariable` or a `ResourceVariable`, whichever the variable scope asks for, after passing
the
arguments through the creators that `tf.variable_creator_scope` has put in the way.
"""
import enum
import functools
import os

from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.base import tf2
from penstock._src.graph import types
from penstock._src.base.mode import mode
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import cond as cond_lib
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.state import state_ops
from penstock._src.ops.state import base as trackable
from penstock._src.base import object_identity
from penstock._src.base import traceback_utils


class VariableSynchronization(enum.Enum):
    """When the copies of a distributed variable are brought together."""
    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregationV2(enum.Enum):
    """How the copies of a distributed variable are brought together."""
    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3

    def __hash__(self):
        return hash(self.value)

    def __eq__(self, other):
        if isinstance(other, (VariableAggregation, VariableAggregationV2)):
            return self.value == other.value
        return False


class VariableAggregation(enum.Enum):
    """As VariableAggregationV2, with version 1's older name for the last member."""
    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3

    __hash__ = VariableAggregationV2.__hash__
    __eq__ = VariableAggregationV2.__eq__


def validate_synchronization_aggregation_trainable(synchronization, aggregation, trainable, name):
    """The three arguments as enum members and a bool, with their defaults; ValueError for what is none of them."""
    if aggregation is None:
        aggregation = VariableAggregation.NONE
    elif not isinstance(aggregation, (VariableAggregation, VariableAggregationV2)):
        try:
            aggregation = VariableAggregationV2(aggregation)
        except ValueError:
            raise ValueError("Invalid variable aggregation mode: {} for variable: {}".format(aggregation, name))
    if synchronization is None:
        synchronization = VariableSynchronization.AUTO
    else:
        try:
            synchronization = VariableSynchronization(synchronization)
        except ValueError:
            raise ValueError("Invalid variable synchronization mode: {} for variable: {}".format(synchronization, name))
    if trainable is None:
        trainable = synchronization != VariableSynchronization.ON_READ
    return synchronization, aggregation, trainable


def default_variable_creator(_, **kwds):
    """Makes a variable of the kind that the variable scope asks for."""
    from penstock._src.ops.state import variable_scope
    return variable_scope.default_variable_creator(None, **kwds)


def default_variable_creator_v2(_, **kwds):
    """Makes a resource variable."""
    from penstock._src.ops.state import variable_scope
    return variable_scope.default_variable_creator_v2(None, **kwds)


def _through_creators(innermost, kwargs):
    """Calls the creators on the graph's stack, the last one entered first; each may call the next."""
    create = innermost
    for _, creator in ops.get_default_graph()._variable_creator_stack:
        create = functools.partial(creator, create)
    return create(**kwargs)


class VariableMetaclass(type):
    """Turns `Variable(...)` and `VariableV1(...)` into calls of a factory; their subclasses are built as usual."""

    def _variable_v1_call(cls, initial_value=None, trainable=None, collections=None, validate_shape=True,
                          caching_device=None, name=None, variable_def=None, dtype=None, expected_shape=None,
                          import_scope=None, constraint=None, use_resource=None,
                          synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE,
                          shape=None, experimental_enable_variable_lifting=None):
        kwargs = dict(locals())
        del kwargs["cls"], kwargs["experimental_enable_variable_lifting"]
        if aggregation is None:
            kwargs["aggregation"] = VariableAggregation.NONE
        return _through_creators(lambda **kw: default_variable_creator(None, **kw), kwargs)

    def _variable_v2_call(cls, initial_value=None, trainable=None, validate_shape=True, caching_device=None, name=None,
                          variable_def=None, dtype=None, import_scope=None, constraint=None,
                          synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE,
                          shape=None, experimental_enable_variable_lifting=None):
        kwargs = dict(locals())
        del kwargs["cls"], kwargs["experimental_enable_variable_lifting"]
        if aggregation is None:
            kwargs["aggregation"] = VariableAggregation.NONE
        return _through_creators(lambda **kw: default_variable_creator_v2(None, **kw), kwargs)

    def __call__(cls, *args, **kwargs):
        try:
            if cls is VariableV1:
                return cls._variable_v1_call(*args, **kwargs)
            if cls is Variable:
                return cls._variable_v2_call(*args, **kwargs)
            return super().__call__(*args, **kwargs)
        except Exception as e:
            if tf2.enabled():
                raise traceback_utils.filtered(e)
            raise


class Variable(trackable.Trackable, types.AnyTensor, metaclass=VariableMetaclass):
    """A tensor that keeps its value between steps. See RefVariable and ResourceVariable for the two kinds."""

    _is_dense_tensor_like = True

    __array_priority__ = 100

    def __init__(self, initial_value=None, trainable=None, validate_shape=True, caching_device=None, name=None,
                 variable_def=None, dtype=None, import_scope=None, constraint=None,
                 synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE, shape=None,
                 experimental_enable_variable_lifting=True):
        raise NotImplementedError

    def __repr__(self):
        return "<tf.Variable '%s' shape=%s dtype=%s>" % (self.name, self.get_shape(), self.dtype.name)

    # What both kinds keep in the same attributes

    @property
    def trainable(self):
        return self._trainable

    @property
    def synchronization(self):
        return self._synchronization

    @property
    def aggregation(self):
        return self._aggregation

    @property
    def initializer(self):
        """The operation that gives the variable its initial value."""
        return self._initializer_op

    @property
    def initial_value(self):
        """The tensor from which `initializer` takes the value."""
        return self._initial_value

    @property
    def constraint(self):
        """The projection applied after each update by an optimizer, or None."""
        return self._constraint

    @property
    def _shared_name(self):
        return self.name[:self.name.index(":")]

    _distribute_strategy = None  # the one in whose scope it was made

    def get_shape(self):
        """The static shape."""
        return self.shape

    def initialized_value(self):
        """The variable's value if it has one by now, else its initial value."""
        with ops.init_scope():
            return cond_lib.cond(is_variable_initialized(self), self.read_value, lambda: self.initial_value)

    def load(self, value, session=None):
        """Sets the value in `session` (or the default one) without adding to the graph; at once in eager mode."""
        if ops.executing_eagerly():
            self.assign(value)
            return
        session = session or ops.get_default_session()
        if session is None:
            raise ValueError("Either session argument should be provided or default session should be established")
        session.run(self.initializer, {self.initializer.inputs[1]: value})

    # What each kind does in its own way

    def value(self):
        """The value as a tensor."""
        raise NotImplementedError

    def read_value(self):
        """A new read of the value."""
        raise NotImplementedError

    def set_shape(self, shape):
        """Narrows the static shape."""
        raise NotImplementedError

    def eval(self, session=None):
        """The value in a session."""
        raise NotImplementedError

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """Sets the value."""
        raise NotImplementedError

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        """Adds to the value."""
        raise NotImplementedError

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        """Subtracts from the value."""
        raise NotImplementedError

    def scatter_sub(self, sparse_delta, use_locking=False, name=None):
        """Subtracts from the rows that IndexedSlices name."""
        raise NotImplementedError

    def scatter_add(self, sparse_delta, use_locking=False, name=None):
        """Adds to the rows that IndexedSlices name."""
        raise NotImplementedError

    def scatter_max(self, sparse_delta, use_locking=False, name=None):
        """Raises to a maximum the rows that IndexedSlices name."""
        raise NotImplementedError

    def scatter_min(self, sparse_delta, use_locking=False, name=None):
        """Lowers to a minimum the rows that IndexedSlices name."""
        raise NotImplementedError

    def scatter_mul(self, sparse_delta, use_locking=False, name=None):
        """Multiplies the rows that IndexedSlices name."""
        raise NotImplementedError

    def scatter_div(self, sparse_delta, use_locking=False, name=None):
        """Divides the rows that IndexedSlices name."""
        raise NotImplementedError

    def scatter_update(self, sparse_delta, use_locking=False, name=None):
        """Sets the rows that IndexedSlices name."""
        raise NotImplementedError

    def batch_scatter_update(self, sparse_delta, use_locking=False, name=None):
        """Sets rows, batch by batch."""
        raise NotImplementedError

    def scatter_nd_sub(self, indices, updates, name=None):
        """Subtracts from the positions that `indices` name."""
        raise NotImplementedError

    def scatter_nd_add(self, indices, updates, name=None):
        """Adds to the positions that `indices` name."""
        raise NotImplementedError

    def scatter_nd_update(self, indices, updates, name=None):
        """Sets the positions that `indices` name."""
        raise NotImplementedError

    def scatter_nd_max(self, indices, updates, name=None):
        """Raises to a maximum the positions that `indices` name."""
        raise NotImplementedError

    def scatter_nd_min(self, indices, updates, name=None):
        """Lowers to a minimum the positions that `indices` name."""
        raise NotImplementedError

    def count_up_to(self, limit):
        """The value, which then grows by one."""
        raise NotImplementedError

    def to_proto(self, export_scope=None):
        """A VariableDef."""
        raise NotImplementedError

    # Operators act on the value

    @classmethod
    def _OverloadAllOperators(cls):
        for operator in ops.Tensor.OVERLOADABLE_OPERATORS:
            cls._OverloadOperator(operator)
        cls.__getitem__ = array_ops._SliceHelperVar

    @classmethod
    def _OverloadOperator(cls, operator):
        if operator in ("__eq__", "__ne__", "__getitem__"):
            return
        of_tensor = getattr(ops.Tensor, operator)

        @functools.wraps(of_tensor)
        def of_variable(a, *args, **kwargs):
            return of_tensor(a.value(), *args, **kwargs)

        setattr(cls, operator, of_variable)

    def __hash__(self):
        if mode.tensor_equality and ops.executing_eagerly_outside_functions():
            raise TypeError(f"Variable is unhashable. Instead, use variable.ref() as the key. (Variable: {self})")
        return id(self)

    def __eq__(self, other):
        if mode.tensor_equality and ops.executing_eagerly_outside_functions():
            return gen.equal(self, other, incompatible_shape_error=False)
        return self is other

    def __ne__(self, other):
        if mode.tensor_equality and ops.executing_eagerly_outside_functions():
            return gen.not_equal(self, other, incompatible_shape_error=False)
        return self is not other

    def __iter__(self):
        # Without this the presence of __getitem__ would make `for x in v` count for ever.
        raise TypeError("'Variable' object is not iterable.")

    @staticmethod
    def _TensorConversionFunction(v, dtype=None, name=None, as_ref=False):
        if dtype and not dtype.is_compatible_with(v.dtype):
            raise ValueError("Incompatible type conversion requested to type '%s' for variable of type '%s'" %
                             (dtype.name, v.dtype.name))
        return v._ref() if as_ref else v.value()

    # A slice of a partitioned variable is saved as part of the whole

    def _set_save_slice_info(self, save_slice_info):
        self._save_slice_info = save_slice_info

    def _get_save_slice_info(self):
        return self._save_slice_info

    def _gather_saveables_for_checkpoint(self):
        return {trackable.VARIABLE_VALUE_KEY: self}

    def experimental_ref(self):
        """A hashable stand-in for the variable."""
        return object_identity.Reference(self)

    def ref(self):
        """A hashable stand-in for the variable."""
        return object_identity.Reference(self)

    @staticmethod
    def from_proto(variable_def, import_scope=None):
        """The variable that `variable_def` describes; its nodes must be in the default graph."""
        from penstock._src.ops.state import ref_variable
        return ref_variable.RefVariable(variable_def=variable_def, import_scope=import_scope)

    class SaveSliceInfo(object):
        """Which part of a whole tensor a variable is, for checkpoints."""

        def __init__(self, full_name=None, full_shape=None, var_offset=None, var_shape=None, save_slice_info_def=None,
                     import_scope=None):
            if save_slice_info_def:
                full_name = ops.prepend_name_scope(save_slice_info_def.full_name, import_scope=import_scope)
                full_shape = list(save_slice_info_def.full_shape)
                var_offset = list(save_slice_info_def.var_offset)
                var_shape = list(save_slice_info_def.var_shape)
            self.full_name = full_name
            self.full_shape = full_shape
            self.var_offset = var_offset
            self.var_shape = var_shape

        @property
        def spec(self):
            """As the V2 checkpoint ops want it: "10 4 0,5:0,4" for rows 0 to 4 of a [10, 4] tensor."""
            sizes = " ".join("%d" % d for d in self.full_shape) + " "
            return sizes + ":".join("%d,%d" % (o, s) for o, s in zip(self.var_offset, self.var_shape))

        def to_proto(self, export_scope=None):
            if export_scope is not None and not self.full_name.startswith(export_scope):
                return None
            from penstock.proto import variable_pb2
            return variable_pb2.SaveSliceInfoDef(
                full_name=ops.strip_name_scope(self.full_name, export_scope), full_shape=self.full_shape,
                var_offset=self.var_offset, var_shape=self.var_shape)


class VariableV1(Variable):
    """Version 1's `tf.Variable`: calling it makes the kind of variable that the current variable scope asks for."""

    def __init__(self, initial_value=None, trainable=None, collections=None, validate_shape=True, caching_device=None,
                 name=None, variable_def=None, dtype=None, expected_shape=None, import_scope=None, constraint=None,
                 use_resource=None, synchronization=VariableSynchronization.AUTO,
                 aggregation=VariableAggregation.NONE, shape=None):
        raise NotImplementedError

    SaveSliceInfo = Variable.SaveSliceInfo


Variable._OverloadAllOperators()


def lacks_initial_value():
    """What is said of a variable without a value to begin with."""
    return ("The `initial_value` arg to `tf.Variable` must be specified except when you are not providing a "
            "`variable_def`. You provided neither." if tf2.enabled() else "initial_value must be specified.")


def no_slices(delta):
    """What is said of something that is scattered into a variable and no IndexedSlices."""
    return (f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {delta}" if tf2.enabled() else
            f"sparse_delta is not IndexedSlices: {delta}")


def checked_collections(collections, trainable, constraint):
    """`collections` as both kinds of variable take it, with TRAINABLE_VARIABLES added for a trainable one."""
    if collections is None:
        collections = [ops.GraphKeys.GLOBAL_VARIABLES]
    if not isinstance(collections, (list, tuple, set)):
        raise ValueError("collections argument to Variable constructor must be a list, tuple, or set. "
                         "Got %s of type %s" % (collections, type(collections)))
    if constraint is not None and not callable(constraint):
        raise ValueError(f"Argument `constraint` must be None or a callable. Got a {type(constraint)}: {constraint}"
                         if tf2.enabled() else "The `constraint` argument must be a callable.")
    if trainable and ops.GraphKeys.TRAINABLE_VARIABLES not in collections:
        collections = list(collections) + [ops.GraphKeys.TRAINABLE_VARIABLES]
    return collections


def colocated_with_name(name):
    """A scope whose nodes are colocated with a node of that name that need not exist yet."""
    from penstock.proto import attr_value_pb2
    where = attr_value_pb2.AttrValue(list=attr_value_pb2.AttrValue.ListValue(s=[b"loc:@" + name.encode()]))
    return ops.get_default_graph()._attr_scope({"_class": where})


def refuse_control_flow_initializer(initial_value, name):
    """ValueError if an initial value was computed within a loop or branch."""
    if initial_value.op._get_control_flow_context() is not None:
        raise ValueError("Initializer for variable %s is from inside a control-flow construct, such as a loop or "
                         "conditional. When creating a variable inside a loop or conditional, use a lambda as the "
                         "initializer." % name)


# The collections of variables


def global_variables(scope=None):
    """The variables that are shared in a distributed environment: the collection GLOBAL_VARIABLES."""
    return ops.get_collection(ops.GraphKeys.GLOBAL_VARIABLES, scope)


def all_variables():
    """The older name of `global_variables`."""
    return global_variables()


def _all_saveable_objects(scope=None):
    return (ops.get_collection(ops.GraphKeys.GLOBAL_VARIABLES, scope) +
            ops.get_collection(ops.GraphKeys.SAVEABLE_OBJECTS, scope))


def local_variables(scope=None):
    """The variables of this process: the collection LOCAL_VARIABLES."""
    return ops.get_collection(ops.GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope=None):
    """The variables that inference needs: the collection MODEL_VARIABLES."""
    return ops.get_collection(ops.GraphKeys.MODEL_VARIABLES, scope)


def trainable_variables(scope=None):
    """What optimizers update unless told otherwise: the collection TRAINABLE_VARIABLES."""
    return ops.get_collection(ops.GraphKeys.TRAINABLE_VARIABLES, scope)


def moving_average_variables(scope=None):
    """The variables that have a moving average: the collection MOVING_AVERAGE_VARIABLES."""
    return ops.get_collection(ops.GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def variables_initializer(var_list, name="init"):
    """An operation that runs the initializers of `var_list`."""
    if var_list:
        return control_flow_ops.group(*[v.initializer for v in var_list], name=name)
    return control_flow_ops.no_op(name=name)


def initialize_variables(var_list, name="init"):
    """The older name of `variables_initializer`."""
    return variables_initializer(var_list, name=name)


def global_variables_initializer():
    """An operation that initializes all global variables."""
    return variables_initializer(global_variables())


def initialize_all_variables():
    """The older name of `global_variables_initializer`."""
    return global_variables_initializer()


def local_variables_initializer():
    """An operation that initializes all local variables."""
    return variables_initializer(local_variables())


def initialize_local_variables():
    """The older name of `local_variables_initializer`."""
    return local_variables_initializer()


def is_variable_initialized(variable):
    """A scalar bool tensor: whether `variable` has a value."""
    return state_ops.is_variable_initialized(variable)


def _variables_or_their_nodes(var_list):
    if var_list is None:
        var_list = global_variables() + local_variables()
        if not var_list:
            kinds = ("Variable", "VariableV2", "AutoReloadVariable")
            var_list = [op.outputs[0] for op in ops.get_default_graph().get_operations() if op.type in kinds]
    return var_list


def assert_variables_initialized(var_list=None):
    """A tensor whose evaluation fails while one of the variables has no value; None if there are none."""
    var_list = _variables_or_their_nodes(var_list)
    if not var_list:
        return None
    ranks = []
    for var in var_list:
        with ops.colocate_with(var.op):
            ranks.append(array_ops.rank_internal(var, optimize=False))
    return ranks[0] if len(ranks) == 1 else array_ops.stack(ranks)


def report_uninitialized_variables(var_list=None, name="report_uninitialized_variables"):
    """A 1-D string tensor: the names of the variables that have no value yet."""
    var_list = _variables_or_their_nodes(var_list)
    with ops.name_scope(name):
        if var_list:
            initialized = [state_ops.is_variable_initialized(v) for v in var_list]
        with ops.device(os.environ.get("TF_DEVICE_FOR_UNINITIALIZED_VARIABLE_REPORTING", "/cpu:0")):
            if not var_list:
                return constant_op.constant([], dtype=dtypes.string)
            missing = gen.logical_not(array_ops.stack(initialized))
            names = constant_op.constant([v.op.name for v in var_list])
            return array_ops.boolean_mask(names, missing)


ops.register_tensor_conversion_function(Variable, Variable._TensorConversionFunction)
