"""Strategies, which say where the replicas of a model run: here all have one replica.

Above the replicas (`strategy.scope()`) a program makes variables and datasets and reduces results; `strategy.run` calls
the code of a replica, which asks `get_replica_context()`. Subclasses of StrategyExtended fill in the devices.
"""
import contextlib
import enum

from penstock._src.autograph.core import ag_ctx
from penstock._src.autograph.impl import api as autograph
from penstock._src.data.ops import dataset_ops
from penstock._src.distribute import distribution_strategy_context as contexts
from penstock._src.distribute.distribution_strategy_context import (  # noqa: F401  (version 2 has them here)
    experimental_set_strategy, get_cross_replica_context, get_replica_context, get_strategy, has_strategy,
    in_cross_replica_context, strategy_supports_no_merge_call, variable_sync_on_read_context)
from penstock._src.distribute.reduce_util import as_reduce_op, ReduceOp
from penstock._src.graph import indexed_slices
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.state import variable_scope
from penstock._src.base import nest


class InputReplicationMode(enum.Enum):
    """How often an `input_fn` is called."""

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


class InputContext:
    """What a function that makes a dataset learns of the pipelines that there are."""

    def __init__(self, num_input_pipelines=1, input_pipeline_id=0, num_replicas_in_sync=1):
        self.num_input_pipelines, self.input_pipeline_id = num_input_pipelines, input_pipeline_id
        self.num_replicas_in_sync = num_replicas_in_sync

    def get_per_replica_batch_size(self, global_batch_size):
        """The part of a batch that each replica has. ValueError: they do not divide it."""
        if global_batch_size % self.num_replicas_in_sync:
            raise ValueError(f"The `global_batch_size` {global_batch_size} is not divisible by `num_replicas_in_sync` "
                             f"{self.num_replicas_in_sync}")
        return global_batch_size // self.num_replicas_in_sync


class ValueContext:
    """What a function that makes a replica's value learns of it."""

    def __init__(self, replica_id_in_sync_group=0, num_replicas_in_sync=1):
        self.replica_id_in_sync_group, self.num_replicas_in_sync = replica_id_in_sync_group, num_replicas_in_sync


class RunOptions:
    """Options of `Strategy.run`: of XLA and of dynamic shapes on TPUs, which change nothing here."""

    def __init__(self, experimental_enable_dynamic_batch_size=True, experimental_bucketizing_dynamic_shape=False,
                 experimental_xla_options=None):
        self.experimental_enable_dynamic_batch_size = experimental_enable_dynamic_batch_size
        self.experimental_bucketizing_dynamic_shape = experimental_bucketizing_dynamic_shape
        self.experimental_xla_options = experimental_xla_options


def _converted(function):
    """A function of the program's, converted if it is called from converted code."""
    return autograph.tf_convert(function, ag_ctx.control_status_ctx(), convert_by_default=False)


class ReplicaContext:
    """The replica whose code runs."""

    def __init__(self, strategy, replica_id_in_sync_group=0):
        self._strategy = strategy
        self.replica_id_in_sync_group = replica_id_in_sync_group
        self._mode = contexts.Replica(strategy, self)

    def __enter__(self):
        return self._mode.__enter__()

    def __exit__(self, *error):
        self._mode.__exit__(*error)

    @property
    def strategy(self):
        """The strategy whose replica this is."""
        return self._strategy

    @property
    def num_replicas_in_sync(self):
        """The number of replicas."""
        return self._strategy.num_replicas_in_sync

    @property
    def devices(self):
        """The replica's devices."""
        return tuple(self._strategy.extended.worker_devices)

    def merge_call(self, merge_fn, args=(), kwargs=None):
        """What `merge_fn(strategy, *args, **kwargs)` returns, called once above all replicas."""
        contexts.require_replica_context(self)
        with contexts.CrossReplica(self._strategy):
            return _converted(merge_fn)(self._strategy, *args, **(kwargs or {}))

    def all_reduce(self, reduce_op, value, options=None):
        """The sum or mean of a value, or of a structure of values, over the replicas."""
        as_reduce_op(reduce_op)
        return nest.map_structure(_of_one_replica, value)

    def all_gather(self, value, axis, options=None):
        """The values of all replicas, one behind the other along an axis."""
        return nest.map_structure(array_ops.identity, value)


def _of_one_replica(value):
    """A tensor's sum or mean over one replica; slices keep their form, which may lack parts that are tensors."""
    if isinstance(value, indexed_slices.IndexedSlices):
        return indexed_slices.IndexedSlices(array_ops.identity(value.values), value.indices, value.dense_shape)
    return array_ops.identity(value)


class StrategyExtended:
    """What optimizers and libraries ask of a strategy. `device`: where its variables and its replica are; None: where
    the program puts them."""

    experimental_require_static_shapes = False
    steps_per_run = 1

    def __init__(self, container_strategy, device=None):
        self._container_strategy_ref, self._device = container_strategy, device
        self._replica_context = ReplicaContext(container_strategy)

    def _container_strategy(self):
        return self._container_strategy_ref

    @property
    def worker_devices(self):
        """The devices that replicas run on."""
        return (self._device or "",)

    @property
    def parameter_devices(self):
        """The devices that variables are on."""
        return self.worker_devices

    def _in_multi_worker_mode(self):
        """Whether replicas are on several workers."""
        return False

    def non_slot_devices(self, var_list):
        """Where what belongs to no variable of these is."""
        return self._device

    @contextlib.contextmanager
    def _scope(self, strategy):
        contexts.require_cross_replica_or_no_strategy(strategy)

        def make(next_creator, **kwargs):
            kwargs["use_resource"] = True
            variable = next_creator(**kwargs)
            variable._distribute_strategy = strategy
            return variable

        with contexts.CrossReplica(strategy), variable_scope.variable_creator_scope(make), ops.device(self._device):
            yield strategy

    def colocate_vars_with(self, colocate_with_variable):
        """`with` it, variables are made beside this one."""
        return ops.colocate_with(colocate_with_variable)

    def variable_created_in_scope(self, v):
        """Whether a variable was made in a scope of this strategy."""
        return getattr(v, "_distribute_strategy", None) is self._container_strategy()

    def call_for_each_replica(self, fn, args=(), kwargs=None):
        """What a function returns that each replica calls."""
        contexts.require_cross_replica_or_no_strategy(self._container_strategy())
        with ops.device(self._device), self._replica_context:
            return _converted(fn)(*args, **(kwargs or {}))

    def reduce_to(self, reduce_op, value, destinations, options=None):
        """The sum or mean of a value over the replicas, on the devices `destinations`."""
        contexts.require_cross_replica_or_no_strategy(self._container_strategy())
        as_reduce_op(reduce_op)
        return value

    def batch_reduce_to(self, reduce_op, value_destination_pairs, options=None):
        """`reduce_to` of each of several (value, destinations)."""
        return [self.reduce_to(reduce_op, value, destinations) for value, destinations in value_destination_pairs]

    def broadcast_to(self, tensor, destinations):
        """A tensor on all devices."""
        return tensor

    def update(self, var, fn, args=(), kwargs=None, group=True):
        """Calls `fn(var, *args, **kwargs)` where the variable is; what it returns, in a list unless `group`."""
        with ops.colocate_with(var), contexts.CrossReplica(self._container_strategy()):
            result = _converted(fn)(var, *args, **(kwargs or {}))
        return result if group else nest.map_structure(lambda x: (x,), result)

    def update_non_slot(self, colocate_with, fn, args=(), kwargs=None, group=True):
        """Calls `fn(*args, **kwargs)` where what belongs to no variable is; as `update` otherwise."""
        with ops.device(self._device), contexts.CrossReplica(self._container_strategy()):
            result = _converted(fn)(*args, **(kwargs or {}))
        return result if group else nest.map_structure(lambda x: (x,), result)

    def value_container(self, value):
        """What a replica's part belongs to."""
        return value

    def read_var(self, v):
        """A variable's value above the replicas."""
        return array_ops.identity(v)


class _InputIterator:
    """Elements for the replicas, of a dataset."""

    def __init__(self, dataset):
        self._eager = ops.executing_eagerly()
        self._iterator = iter(dataset) if self._eager else dataset_ops.make_initializable_iterator(dataset)
        self._dataset = dataset

    def get_next(self):
        """The next element."""
        return next(self._iterator) if self._eager else self._iterator.get_next()

    def initialize(self):
        """Begins anew; in graphs the operation that does so."""
        if not self._eager:
            return self._iterator.initializer
        self._iterator = iter(self._dataset)
        return None

    initializer = property(initialize)

    def __iter__(self):
        return self

    def __next__(self):
        return self.get_next()


class Strategy:
    """One way to distribute a model; see the module."""

    _should_use_with_coordinator = False  # Keras asks

    def __init__(self, extended):
        self._extended = extended

    @property
    def extended(self):
        """The StrategyExtended with what optimizers and libraries need."""
        return self._extended

    @property
    def num_replicas_in_sync(self):
        """The number of replicas over which gradients are summed."""
        return 1

    @property
    def cluster_resolver(self):
        """The resolver of the cluster that it runs on; None: there is none."""
        return None

    def scope(self):
        """`with` it, variables are the strategy's. RuntimeError: within a replica or another strategy's scope."""
        return self._extended._scope(self)

    def run(self, fn, args=(), kwargs=None, options=None):
        """What `fn(*args, **kwargs)` returns, called by each replica."""
        with contextlib.nullcontext() if contexts.get_strategy() is self else self.scope():
            return self._extended.call_for_each_replica(fn, args=args, kwargs=kwargs)

    def experimental_run_v2(self, fn, args=(), kwargs=None):
        """`run` by its first name."""
        return self.run(fn, args, kwargs)

    def experimental_run(self, fn, input_iterator=None):
        """What a function returns that each replica calls with the next element of an iterator, if there is one."""
        with self.scope():
            return self.run(fn, () if input_iterator is None else (input_iterator.get_next(),))

    def reduce(self, reduce_op, value, axis=None):
        """A value's sum or mean over the replicas, and along an axis of each replica's if one is given.
        ValueError: another way to reduce."""
        mean = as_reduce_op(reduce_op) is ReduceOp.MEAN
        if axis is None:
            return value
        reduce = math_ops.reduce_mean if mean else math_ops.reduce_sum
        return nest.map_structure(lambda x: reduce(x, axis=axis), value)

    def gather(self, value, axis):
        """The values of all replicas, one behind the other along an axis."""
        return value

    def unwrap(self, value):
        """The values of the replicas in a list."""
        return [value]

    def experimental_local_results(self, value):
        """The values of this process's replicas in a tuple."""
        return (value,)

    def group(self, value, name=None):
        """One operation, or tensor, for what the replicas returned."""
        return value if name is None or isinstance(value, ops.Tensor) else control_flow_ops.group(value, name=name)

    # Input

    def experimental_distribute_dataset(self, dataset, options=None):
        """A dataset whose elements are what the replicas take."""
        return dataset

    def distribute_datasets_from_function(self, dataset_fn, options=None):
        """The dataset that `dataset_fn(InputContext)` returns."""
        return dataset_fn(InputContext(num_replicas_in_sync=self.num_replicas_in_sync))

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    def experimental_distribute_values_from_function(self, value_fn):
        """What `value_fn(ValueContext)` returns for each replica."""
        return value_fn(ValueContext())

    def make_dataset_iterator(self, dataset):
        """An iterator for `experimental_run`."""
        return _InputIterator(dataset)

    def make_input_fn_iterator(self, input_fn, replication_mode=InputReplicationMode.PER_WORKER):
        """An iterator of what `input_fn(InputContext)` returns: a dataset, or a function that gives the next element.
        ValueError: any other mode than PER_WORKER."""
        if replication_mode is not InputReplicationMode.PER_WORKER:
            raise ValueError(f"Input replication mode not supported: {replication_mode}")
        made = input_fn(InputContext(num_replicas_in_sync=self.num_replicas_in_sync))
        return _InputFunction(made) if callable(made) and not hasattr(made, "_variant_tensor") else _InputIterator(made)

    def experimental_make_numpy_dataset(self, numpy_input, session=None):
        """A dataset of the rows of arrays."""
        return dataset_ops.dataset_class().from_tensor_slices(numpy_input)

    # Sessions

    def configure(self, session_config=None, cluster_spec=None, task_type=None, task_id=None):
        """Tells it of a cluster; it has no use for one."""

    def update_config_proto(self, config_proto):
        """The configuration for a session that runs this strategy's graphs."""
        return config_proto

    def colocate_vars_with(self, colocate_with_variable):
        """See `extended`."""
        return self._extended.colocate_vars_with(colocate_with_variable)


class _InputFunction:
    """Elements for the replicas, of a function."""

    def __init__(self, function):
        self.get_next = function

    def initialize(self):
        """In graphs an operation, which does nothing."""
        return control_flow_ops.no_op()


class _DefaultExtended(StrategyExtended):
    @contextlib.contextmanager
    def _scope(self, strategy):
        if contexts.has_strategy():
            raise RuntimeError("Must not nest tf.distribute.Strategy scopes.")
        yield strategy

    def variable_created_in_scope(self, v):
        return getattr(v, "_distribute_strategy", None) is None

    def call_for_each_replica(self, fn, args=(), kwargs=None):
        return _converted(fn)(*args, **(kwargs or {}))

    def reduce_to(self, reduce_op, value, destinations, options=None):
        as_reduce_op(reduce_op)
        return value


class DefaultStrategy(Strategy):
    """What is in force where no strategy is."""

    def __init__(self):
        super().__init__(_DefaultExtended(self))


def get_loss_reduction():
    """How the losses of replicas become one in version 1: ReduceOp.SUM or MEAN."""
    return getattr(ops.get_default_graph(), "_last_loss_reduction", None) or ReduceOp.SUM
