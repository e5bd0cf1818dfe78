"""Where tf.get_variable keeps what it made: variables and partitioned variables by full name, one store a graph."""
import contextlib
import enum
import functools
import inspect
import os
import traceback
from collections.abc import Sequence

from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.base import tf2
from penstock._src.base.mode import resource_variables_enabled
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import init_ops
from penstock._src.ops.state import resource_variable_ops
from penstock._src.ops.state import variables
from penstock._src.ops.state.partitioned_variable import PartitionedVariable
from penstock._src.base import tf_logging as logging

_VARSTORE_KEY = ("__variable_store",)
# As code objects have it; frames of ours are left out.
_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__)))) + os.sep


class _ReuseMode(enum.Enum):
    """Found variables are returned, missing ones made."""
    AUTO_REUSE = 1


AUTO_REUSE = _ReuseMode.AUTO_REUSE


def _sequence(value, what):
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise TypeError("`%s` must be a sequence (like tuple or list) instead of %s" % (what, type(value).__name__))


class _PartitionInfo(object):
    """Tells an initializer which part of a whole variable it makes."""

    def __init__(self, full_shape, var_offset):
        _sequence(full_shape, "full_shape")
        _sequence(var_offset, "var_offset")
        if len(var_offset) != len(full_shape):
            raise ValueError("Expected equal length, but `var_offset` is of length {} while full_shape is of length "
                             "{}.".format(len(var_offset), len(full_shape)))
        for offset, shape in zip(var_offset, full_shape):
            if offset < 0 or offset >= shape:
                raise ValueError("Expected 0 <= offset < shape but found offset={}, shape={} for var_offset={}, "
                                 "full_shape={}".format(offset, shape, var_offset, full_shape))
        self._full_shape = full_shape
        self._var_offset = var_offset

    @property
    def full_shape(self):
        return self._full_shape

    @property
    def var_offset(self):
        return self._var_offset

    def single_offset(self, shape):
        """The offset along the one axis where a part of that shape is smaller than the whole; 0 if there is none."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self.var_offset[axis]

    def single_slice_dim(self, shape):
        """The one axis where a part of that shape is smaller than the whole, or None."""
        _sequence(shape, "shape")
        if len(shape) != len(self.full_shape):
            raise ValueError("Expected equal length, but received shape={} of length {} while self.full_shape={} is of "
                             "length {}.".format(shape, len(shape), self.full_shape, len(self.full_shape)))
        for axis, (offset, size, whole) in enumerate(zip(self.var_offset, shape, self.full_shape)):
            if offset + size > whole:
                raise ValueError("With self.var_offset={}, a partition of shape={} would exceed self.full_shape={} in "
                                 "dimension {}.".format(self.var_offset, shape, self.full_shape, axis))
        smaller = [axis for axis in range(len(shape)) if shape[axis] != self.full_shape[axis]]
        if len(smaller) > 1:
            raise ValueError("Cannot use single_slice_dim() with shape={} and self.full_shape={} since slice dim could "
                             "be either dimension {} or {}.".format(shape, self.full_shape, smaller[1], smaller[0]))
        return smaller[0] if smaller else None


def _call_partitioner(partitioner, shape, dtype):
    """The number of slices for each axis that `partitioner` wants, checked."""
    if not shape.is_fully_defined():
        raise ValueError("Shape of a new partitioned variable must be fully defined, but instead was %s." % (shape,))
    if shape.ndims < 1:
        raise ValueError("A partitioned Variable must have rank at least 1, shape: %s" % shape)
    slicing = partitioner(shape=shape, dtype=dtype)
    if not isinstance(slicing, Sequence):
        raise ValueError("Partitioner must return a sequence, but saw: %s" % slicing)
    if len(slicing) != shape.ndims:
        raise ValueError("Partitioner returned a partition list that does not match the Variable's rank: %s vs. %s" %
                         (slicing, shape))
    if any(p < 1 for p in slicing):
        raise ValueError("Partitioner returned zero partitions for some axes: %s" % slicing)
    if sum(p > 1 for p in slicing) > 1:
        raise ValueError("Can only slice a variable along one dimension: shape: %s, partitioning: %s" %
                         (shape, slicing))
    return slicing


def _get_slice_dim_and_num_slices(slicing):
    return next(((axis, n) for axis, n in enumerate(slicing) if n > 1), (0, 1))


def _iter_slices(full_shape, num_slices, slice_dim):
    """(offset, shape) of each slice; the first ones are longer by one where the length does not divide."""
    least, longer = divmod(full_shape[slice_dim], num_slices)
    offset = [0] * len(full_shape)
    for i in range(num_slices):
        shape = list(full_shape)
        shape[slice_dim] = least + (i < longer)
        yield list(offset), shape
        offset[slice_dim] += shape[slice_dim]


def _takes_argument(function, name):
    parameters = inspect.signature(function).parameters
    return name in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _needs_no_argument(function):
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    return all(p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)


class _VariableStore(object):
    """Variables by full name."""

    def __init__(self):
        self._vars = {}
        self._partitioned_vars = {}
        self._store_eager_variables = False

    def get_variable(self, name, shape=None, dtype=dtypes.float32, initializer=None, regularizer=None, reuse=None,
                     trainable=None, collections=None, caching_device=None, partitioner=None, validate_shape=True,
                     use_resource=None, custom_getter=None, constraint=None,
                     synchronization=variables.VariableSynchronization.AUTO,
                     aggregation=variables.VariableAggregation.NONE):
        """Finds or makes the variable called `name`; see tf.get_variable."""
        if custom_getter is not None and not callable(custom_getter):
            raise ValueError("Passed a custom_getter which is not callable: %s" % custom_getter)
        if ops.executing_eagerly():
            if not self._store_eager_variables and reuse:
                raise RuntimeError("When eager execution is enabled variable reuse is only supported when an "
                                   "EagerVariableStore is active. See the documentation on EagerVariableStore for "
                                   "example usage.")
            if self._store_eager_variables:
                reuse = AUTO_REUSE
            use_resource = True
        # A reference type stands for the type of its values.
        dtype = getattr(dtype, "base_dtype", dtype)
        synchronization, aggregation, trainable = variables.validate_synchronization_aggregation_trainable(
            synchronization, aggregation, trainable, name)
        wanted = dict(shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer, reuse=reuse,
                      trainable=trainable, collections=collections, caching_device=caching_device,
                      partitioner=partitioner, validate_shape=validate_shape, use_resource=use_resource,
                      synchronization=synchronization, aggregation=aggregation)
        if custom_getter is None:
            return self._true_getter(name, constraint=constraint, **wanted)
        # Getters written before constraints existed do not know the argument.
        if _takes_argument(custom_getter, "constraint"):
            wanted["constraint"] = constraint
        return custom_getter(getter=self._true_getter, name=name, **wanted)

    def _true_getter(self, name, shape=None, dtype=dtypes.float32, initializer=None, regularizer=None, reuse=None,
                     trainable=None, collections=None, caching_device=None, partitioner=None, validate_shape=True,
                     use_resource=None, constraint=None, synchronization=variables.VariableSynchronization.AUTO,
                     aggregation=variables.VariableAggregation.NONE):
        wanted = dict(shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer, reuse=reuse,
                      trainable=trainable, collections=collections, caching_device=caching_device,
                      validate_shape=validate_shape, use_resource=use_resource, constraint=constraint,
                      synchronization=synchronization, aggregation=aggregation)
        is_scalar = isinstance(shape, Sequence) and not shape
        if partitioner is not None and not is_scalar:
            if not callable(partitioner):
                raise ValueError("Partitioner must be callable, but received: %s" % partitioner)
            with ops.name_scope(None):
                return self._get_partitioned_variable(name=name, partitioner=partitioner, **wanted)
        if reuse is True and partitioner is None and name in self._partitioned_vars:
            return self._get_partitioned_variable(name=name, partitioner=None, **wanted)
        if "%s/part_0" % name in self._vars:
            raise ValueError("No partitioner was provided, but a partitioned version of the variable was found: "
                             "%s/part_0. Perhaps a variable of the same name was already created with partitioning?" %
                             name)
        return self._get_single_variable(name=name, **wanted)

    def _get_partitioned_variable(self, name, partitioner, shape=None, dtype=dtypes.float32, initializer=None,
                                  regularizer=None, reuse=None, trainable=None, collections=None, caching_device=None,
                                  validate_shape=True, use_resource=None, constraint=None,
                                  synchronization=variables.VariableSynchronization.AUTO,
                                  aggregation=variables.VariableAggregation.NONE):
        if name in self._vars:
            raise ValueError("A partitioner was provided, but an unpartitioned version of the variable was found: %s.  "
                             "Perhaps a variable of the same name was already created without partitioning?" % name)
        shape = tensor_shape.as_shape(shape)
        if isinstance(initializer, ops.Tensor):
            shape = shape.merge_with(initializer.get_shape())
        partitions = None
        if not reuse or partitioner:
            partitions = _call_partitioner(partitioner, shape, dtype)
        if name in self._partitioned_vars:
            return self._found_partitioned(name, shape, dtype, partitions, reuse)
        if reuse is True:
            raise ValueError("PartitionedVariable %s does not exist, or was not created with tf.get_variable(). Did "
                             "you mean to set reuse=False or reuse=tf.AUTO_REUSE in VarScope?" % name)
        slice_dim, num_slices = _get_slice_dim_and_num_slices(partitions)
        self._check_existing_parts(name, num_slices)
        slices = []
        for i, (offset, part_shape) in enumerate(_iter_slices(shape.as_list(), num_slices, slice_dim)):
            part_name = "%s/part_%d" % (name, i)
            with ops.name_scope(part_name + "/PartitionedInitializer"):
                if initializer is None:
                    init, init_shape = self._get_default_initializer(name, shape, dtype)[0], part_shape
                elif callable(initializer):
                    init, init_shape = initializer, part_shape
                else:
                    if not isinstance(initializer, ops.Tensor):
                        init = ops.convert_to_tensor(initializer, dtype=dtype)
                    else:
                        init = initializer
                    init, init_shape = array_ops.slice(init, offset, part_shape), None
                    dtype = init.dtype.base_dtype
            with ops.name_scope(None):
                part = self._get_single_variable(
                    name=part_name, shape=init_shape, dtype=dtype, initializer=init,
                    partition_info=_PartitionInfo(full_shape=shape.as_list(), var_offset=offset),
                    regularizer=regularizer, reuse=reuse, trainable=trainable, collections=collections,
                    caching_device=caching_device, validate_shape=validate_shape, use_resource=use_resource,
                    constraint=constraint, synchronization=synchronization, aggregation=aggregation)
            part._set_save_slice_info(variables.Variable.SaveSliceInfo(name, shape.as_list(), offset, part_shape))
            slices.append(part)
        whole = PartitionedVariable(name=name, shape=shape, dtype=dtype, variable_list=slices, partitions=partitions)
        if not ops.executing_eagerly() or self._store_eager_variables:
            self._partitioned_vars[name] = whole
        return whole

    def _found_partitioned(self, name, shape, dtype, partitions, reuse):
        if reuse is False:
            raise ValueError("Partitioned variable with name %s already exists. Did you mean to set reuse=True or "
                             "reuse=tf.AUTO_REUSE in VarScope?" % name)
        found = self._partitioned_vars[name]
        complaint = "Trying to reuse partitioned variable %s, but specified %s %s and found %s %s."
        if not shape.is_compatible_with(found.get_shape()):
            raise ValueError(complaint % (name, "shape", shape, "shape", found.get_shape()))
        if not dtype.is_compatible_with(found.dtype):
            raise ValueError(complaint % (name, "dtype", dtype.name, "dtype", found.dtype.name))
        if partitions is not None and found._get_partitions() != partitions:
            raise ValueError(complaint % (name, "partitions", partitions, "partitions", found._get_partitions()))
        return found

    def _check_existing_parts(self, name, num_slices):
        if "%s/part_0" % name not in self._vars:
            return
        changed = ("Partitioner returned a different partitioning than what was already found.  Partitioner returned "
                   "%d shards, and shard %s/part_0 was found, but " % (num_slices, name))
        if "%s/part_%d" % (name, num_slices - 1) not in self._vars:
            raise ValueError(changed + "%s/part_%d was not." % (name, num_slices - 1))
        if "%s/part_%d" % (name, num_slices) in self._vars:
            raise ValueError(changed + "so was the extra shard %s/part_%d." % (name, num_slices))

    def _get_single_variable(self, name, shape=None, dtype=dtypes.float32, initializer=None, regularizer=None,
                             partition_info=None, reuse=None, trainable=None, collections=None, caching_device=None,
                             validate_shape=True, use_resource=None, constraint=None,
                             synchronization=variables.VariableSynchronization.AUTO,
                             aggregation=variables.VariableAggregation.NONE):
        from_value = initializer is not None and not callable(initializer)
        if shape is not None and from_value:
            raise ValueError("If initializer is a constant, do not specify shape.")
        dtype = dtypes.as_dtype(dtype)
        shape = tensor_shape.as_shape(shape)
        if name in self._vars:
            return self._found_single(name, shape, dtype, reuse)
        if reuse is True:
            raise ValueError("Variable %s does not exist, or was not created with tf.get_variable(). Did you mean to "
                             "set reuse=tf.AUTO_REUSE in VarScope?" % name)
        if initializer is None:
            initializer, from_value = self._get_default_initializer(name=name, shape=shape, dtype=dtype)
        with ops.init_scope():
            variable_dtype = None
            init_val = initializer
            if not from_value:
                if inspect.isclass(initializer):
                    initializer = initializer()
                if shape.is_fully_defined():
                    init_val = _bound_initializer(initializer, shape.as_list(), dtype, partition_info)
                    variable_dtype = dtype.base_dtype
                elif _needs_no_argument(initializer):
                    init_val = initializer
                else:
                    raise ValueError("The initializer passed is not valid. It should be a callable with no arguments "
                                     "and the shape should not be provided or an instance of "
                                     "`tf.keras.initializers.*' and `shape` should be fully defined.")
        if use_resource is None:
            use_resource = resource_variables_enabled()
        v = variables.VariableV1(
            initial_value=init_val, name=name, trainable=trainable, collections=collections,
            caching_device=caching_device, dtype=variable_dtype, validate_shape=validate_shape, constraint=constraint,
            use_resource=use_resource, synchronization=synchronization, aggregation=aggregation)
        if not ops.executing_eagerly() or self._store_eager_variables:
            self._vars[name] = v
        if ops.executing_eagerly() and self._store_eager_variables:
            # Collections would keep other eager variables alive.
            ops.add_to_collections(collections or [ops.GraphKeys.GLOBAL_VARIABLES], v)
            if trainable:
                ops.add_to_collection(ops.GraphKeys.TRAINABLE_VARIABLES, v)
        if regularizer:
            with ops.colocate_with(v), ops.name_scope(name + "/Regularizer/"), ops.init_scope():
                loss = regularizer(v)
            if loss is not None:
                logging.vlog(1, "Applied regularizer to %s and added %s to REGULARIZATION_LOSSES.", v.name, loss)
                ops.add_to_collection(ops.GraphKeys.REGULARIZATION_LOSSES, loss)
        return v

    def _found_single(self, name, shape, dtype, reuse):
        found = self._vars[name]
        if reuse is False:
            message = ("Variable %s already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE "
                       "in VarScope?" % name)
            if isinstance(found, resource_variable_ops.ResourceVariable):
                raise ValueError(message)
            frames = [f for f in found.op.traceback[::-1] if not f[0].startswith(_PACKAGE)][:5]
            raise ValueError("%s Originally defined at:\n\n%s" % (
                message, "".join(traceback.format_list([tuple(f)[:4] for f in frames]))))
        if not shape.is_compatible_with(found.get_shape()):
            raise ValueError("Trying to share variable %s, but specified shape %s and found shape %s." %
                             (name, shape, found.get_shape()))
        if not dtype.is_compatible_with(found.dtype):
            raise ValueError("Trying to share variable %s, but specified dtype %s and found dtype %s." %
                             (name, dtype.name, found.dtype.name))
        return found

    def _get_default_initializer(self, name, shape=None, dtype=dtypes.float32):
        """(initializer, whether it is a value)."""
        if dtype.is_floating:
            return init_ops.glorot_uniform_initializer(), False
        if dtype.is_integer or dtype.is_unsigned or dtype.is_bool or dtype == dtypes.string:
            return init_ops.zeros_initializer(), False
        raise ValueError("An initializer for variable %s of %s is required" % (name, dtype.base_dtype))


def _bound_initializer(initializer, shape, dtype, partition_info):
    more = {"partition_info": partition_info} if _takes_partition_info(initializer) else {}
    return functools.partial(initializer, list(shape), dtype=dtype, **more)


def _takes_partition_info(initializer):
    """Whether it names that argument, as version 1's do and Keras' do not; in version 1 also if it takes any."""
    if hasattr(initializer, "_has_parts"):  # version 2's, which know parts by other arguments
        return False
    try:
        parameters = inspect.signature(initializer).parameters
    except (TypeError, ValueError):
        return not tf2.enabled()
    return "partition_info" in parameters or \
        not tf2.enabled() and any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _get_default_variable_store():
    found = ops.get_collection(_VARSTORE_KEY)
    if found:
        return found[0]
    store = _VariableStore()
    ops.add_to_collection(_VARSTORE_KEY, store)
    return store


@contextlib.contextmanager
def with_variable_store(store):
    """get_variable uses `store` inside."""
    collection = ops.get_collection_ref(_VARSTORE_KEY)
    before = list(collection)
    collection[:] = [store]
    try:
        yield
    finally:
        collection[:] = before


class EagerVariableStore(object):
    """A variable store that the program holds, so that functions called again find their variables."""

    def __init__(self, store=None):
        if store is not None and not store._store_eager_variables:
            raise ValueError("Cannot construct EagerVariableStore from a VariableStore object that does not hold eager "
                             "variables.")
        self._store = _VariableStore() if store is None else store
        self._store._store_eager_variables = True

    def as_default(self):
        return with_variable_store(self._store)

    def variables(self):
        return sorted(self._store._vars.values(), key=lambda v: v.name)

    def trainable_variables(self):
        return [v for v in self.variables() if v.trainable]

    def non_trainable_variables(self):
        return [v for v in self.variables() if not v.trainable]

    def copy(self):
        """A store with variables of its own, of the same names and values."""
        made = EagerVariableStore()
        for name, v in self._store._vars.items():
            made._store._vars[name] = resource_variable_ops.ResourceVariable(
                v.read_value(), name=v.name.partition(":")[0], trainable=v.trainable)
        return made
