"""Layer: an object that makes its variables when it is first called and uses them again in later calls."""
import collections
import contextlib
import copy
import functools
import inspect
import re
import weakref

import numpy as np

from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.layers.input_spec import InputSpec, assert_input_compatibility
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import init_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.state import partitioned_variable
from penstock._src.ops.state import variable_scope as vs
from penstock._src.ops.state import variables as tf_variables
from penstock._src.ops.state import base as trackable
from penstock._src.base import nest

_layer_counts = weakref.WeakKeyDictionary()  # graph -> {base name: layers of that name so far}
_keras_style = False


@contextlib.contextmanager
def keras_style_scope():
    """Layers made inside own their variables instead of sharing them through variable scopes."""
    global _keras_style
    before = _keras_style
    _keras_style = True
    try:
        yield
    finally:
        _keras_style = before


def set_keras_style():
    """Layers made from now on own their variables."""
    global _keras_style
    _keras_style = True


def to_snake_case(name):
    """BatchNormalization -> batch_normalization."""
    name = re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    name = re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()
    # A scope must not begin with an underscore.
    return "private" + name if name[0] == "_" else name


class Layer(trackable.Trackable):
    """Base of the layers.

    A subclass makes its variables with `add_weight` in `build(input_shape)` and computes in `call(inputs)`. Names
    follow
    variable scopes: the first call opens a scope named `name`, or the class's name made unique, and later calls reuse
    it.

    Args:
      trainable: Whether the variables go to TRAINABLE_VARIABLES.
      name: A name or a VariableScope.
      dtype: Of the variables; that of the first input if None.
    """

    def __init__(self, trainable=True, name=None, dtype=None, **kwargs):
        scope = kwargs.pop("_scope", None)
        self._reuse = kwargs.pop("_reuse", None)
        self._activity_regularizer = kwargs.pop("activity_regularizer", None)
        self._initial_weights = kwargs.pop("weights", None)
        for known in ("autocast", "input_shape", "batch_input_shape", "batch_size", "input_dim"):
            kwargs.pop(known, None)
        if kwargs:
            raise TypeError("Keyword argument not understood:", sorted(kwargs)[0])
        self._use_resource_variables = False
        self._keras_style = _keras_style
        if _keras_style and scope is not None:
            raise ValueError("scope argument not allowed when keras style layers are enabled, but saw: %s" % scope)
        if _keras_style and self._reuse is not None:
            raise ValueError("reuse argument not allowed when keras style layers are enabled, but saw: %s" %
                             self._reuse)
        self._trainable = trainable
        self._trainable_weights = []
        self._non_trainable_weights = []
        self._updates = []
        self._losses = []
        self._layers = []
        self._inputs_of_updates = {}
        self.stateful = False
        self.built = False
        self.input_spec = None
        self.supports_masking = False
        self._dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self._init_set_name(name)
        self._scope = None
        if scope:
            with vs.variable_scope(scope) as captured:
                self._scope = captured
        self._current_scope = None

    # Names

    def _init_set_name(self, name):
        self._base_name = self._name = name
        if isinstance(name, vs.VariableScope):
            self._base_name = name.name
            self._name, _ = self._make_unique_name()
        if not name:
            self._name, self._base_name = self._make_unique_name()

    def _make_unique_name(self, name_uid_map=None, avoid_names=None, namespace="", zero_based=False):
        base = to_snake_case(self.__class__.__name__)
        counts = name_uid_map
        if counts is None:
            counts = _layer_counts.setdefault(ops.get_default_graph(), collections.defaultdict(int))
        avoid = avoid_names or ()
        key = (namespace, base)
        while True:
            number = counts[key]
            counts[key] += 1
            if zero_based:
                name = "%s_%d" % (base, number) if number else base
            else:
                name = "%s_%d" % (base, number + 1)
            if name not in avoid:
                return name, base

    @property
    def name(self):
        return self._name

    @property
    def dtype(self):
        return self._dtype

    @property
    def graph(self):
        return None

    @property
    def scope_name(self):
        if not self._scope:
            raise ValueError('No name available for layer scope because the layer "' + self._name + '" has not been '
                             "used yet. The scope name  is determined the first time the layer instance is called. You "
                             "must therefore call the layer before querying `scope_name`.")
        return self._scope.name

    def _name_scope(self):
        if self._keras_style:
            return self.name
        return self._current_scope.original_name_scope

    def _set_scope(self, scope=None):
        if self._scope is not None:
            return
        if self._reuse:
            opened = vs.variable_scope(scope if scope is not None else self._base_name)
        else:
            opened = vs.variable_scope(scope, default_name=self._base_name)
        with opened as captured:
            self._scope = captured

    # Variables

    @property
    def trainable(self):
        return self._trainable

    @trainable.setter
    def trainable(self, value):
        self._trainable = value
        for layer in getattr(self, "_layers", ()):  # cells of older programs do not call __init__
            layer.trainable = value

    @property
    def trainable_weights(self):
        return list(self._trainable_weights) if self.trainable else []

    @property
    def non_trainable_weights(self):
        if self.trainable:
            return list(self._non_trainable_weights)
        return self._trainable_weights + self._non_trainable_weights

    @property
    def weights(self):
        return self.trainable_weights + self.non_trainable_weights

    @property
    def variables(self):
        return self.weights

    @property
    def trainable_variables(self):
        return self.trainable_weights

    @property
    def non_trainable_variables(self):
        return self.non_trainable_weights

    def count_params(self):
        """The number of elements of all variables."""
        if not self.built:
            raise ValueError("You tried to call `count_params` on " + self.name + ", but the layer isn't built. You "
                             "can build it manually via: `" + self.name + ".build(batch_input_shape)`.")
        return int(sum(np.prod(w.shape.as_list()) for w in self.weights))

    def add_weight(self, name=None, shape=(), dtype=None, initializer=None, regularizer=None, trainable=None,
                   constraint=None, use_resource=None, synchronization=vs.VariableSynchronization.AUTO,
                   aggregation=vs.VariableAggregation.NONE, partitioner=None, **kwargs):
        """A new variable of the layer, or the one of that name if the layer has been built."""
        shape = () if shape is None else shape
        for kwarg in kwargs:
            if kwarg != "experimental_autocast":
                raise TypeError("Unknown keyword argument:", kwarg)
        if synchronization == vs.VariableSynchronization.ON_READ:
            if trainable:
                raise ValueError("Synchronization value can be set to VariableSynchronization.ON_READ only for "
                                 "non-trainable variables. You have specified trainable=True and "
                                 "synchronization=VariableSynchronization.ON_READ.")
            trainable = False
        elif trainable is None:
            trainable = True
        dtype = dtypes.as_dtype(self.dtype or dtypes.float32 if dtype is None else dtype)
        existing = set(tf_variables.global_variables())
        if self._keras_style:
            with ops.init_scope():
                init = _default_initializer(self.name, name, dtype) if initializer is None else initializer
                variable = vs.variable(
                    functools.partial(_instance(init), list(shape), dtype=dtype), name=name, trainable=trainable,
                    dtype=dtype.base_dtype, constraint=constraint, use_resource=use_resource)
            self._weight_added(name, variable, trainable, regularizer, existing)
            return variable
        self._set_scope(None)
        reuse = self.built or self._reuse
        with vs.variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as scope:
            self._current_scope = scope
            with ops.name_scope(self._name_scope()):
                use_resource = use_resource or self._use_resource_variables or scope.use_resource
                if initializer is None:
                    initializer = scope.initializer
                if initializer is None:
                    initializer = _default_initializer(self.name, name, dtype)
                variable = vs.get_variable(
                    name, shape=shape, dtype=dtype, initializer=initializer, trainable=trainable and self.trainable,
                    constraint=constraint, partitioner=partitioner, use_resource=use_resource,
                    synchronization=synchronization, aggregation=aggregation)
                self._weight_added(name, variable, trainable and self.trainable, regularizer, existing)
        return variable

    add_variable = add_weight

    def __setattr__(self, name, value):
        # Layers and variables are what a tf.train.Checkpoint of the layer holds.
        if isinstance(value, trackable.Trackable) and getattr(self, "_self_setattr_tracking", True):
            self._track_trackable(value, name, overwrite=True)
        super().__setattr__(name, value)

    def _weight_added(self, name, variable, trainable, regularizer, existing):
        if isinstance(variable, trackable.Trackable):
            self._track_trackable(variable, name, overwrite=True)
        parts = list(variable) if isinstance(variable, partitioned_variable.PartitionedVariable) else [variable]
        if regularizer and not any(part in existing for part in parts):
            for part in parts:
                self.add_loss(functools.partial(self._regularization, name, part, regularizer))
        # A getter of the program may have made it not trainable.
        known = tf_variables.trainable_variables()
        listed = ops.executing_eagerly_outside_functions() or any(variable is v or parts[0] is v for v in known)
        frozen = trainable and not listed
        (self._trainable_weights if trainable and not frozen else self._non_trainable_weights).append(variable)

    @staticmethod
    def _regularization(name, variable, regularizer):
        with ops.name_scope(name + "/Regularizer"):
            return regularizer(variable)

    # Losses and updates

    @property
    def activity_regularizer(self):
        return self._activity_regularizer

    @activity_regularizer.setter
    def activity_regularizer(self, regularizer):
        self._activity_regularizer = regularizer

    @property
    def losses(self):
        return list(self._losses)

    @property
    def updates(self):
        return list(self._updates) if self.trainable or self.stateful else []

    def add_loss(self, losses, inputs=None):
        """Adds tensors, or functions that make them, to the layer's losses and to REGULARIZATION_LOSSES."""
        added = []
        for loss in nest.flatten(losses):
            if callable(loss):
                loss = loss()
            if loss is None:
                continue
            if not isinstance(loss, ops.Tensor):
                loss = ops.convert_to_tensor(loss, dtype=dtypes.float32)
            loss._unconditional_loss = inputs is None
            added.append(loss)
        self._losses += added
        _add_elements_to_collection(added, ops.GraphKeys.REGULARIZATION_LOSSES)

    def add_update(self, updates, inputs=None):
        """Adds operations to run with each step of training, or functions that make them."""
        for update in updates if isinstance(updates, (list, tuple)) else [updates]:
            while callable(update):
                update = update()
            if not isinstance(update, ops.Operation):
                update = update.op if hasattr(update, "op") else ops.convert_to_tensor(update).op
            self._updates.append(update)
            self._inputs_of_updates[update] = None if self._call_inputs is None else nest.flatten(self._call_inputs)

    _call_inputs = None

    def get_updates_for(self, inputs):
        """The updates that depend on `inputs`; those that depend on no input of the layer if None."""
        if inputs is None:
            return [u for u in self.updates if not _reachable(self._inputs_of_updates.get(u) or [], u)]
        return [u for u in self.updates if _reachable(nest.flatten(inputs), u)]

    def get_losses_for(self, inputs):
        """The losses that depend on `inputs`; those that depend on none if None."""
        if inputs is None:
            return [loss for loss in self.losses if loss._unconditional_loss]
        return [loss for loss in self.losses
                if not loss._unconditional_loss and _reachable(nest.flatten(inputs), loss.op)]

    # Calling

    def build(self, input_shape):
        """Makes the variables. Called once, before the first `call`."""
        self.built = True

    def call(self, inputs, **kwargs):
        """The layer's computation."""
        return inputs

    def compute_output_shape(self, input_shape):
        """The static shape of the outputs for that of the inputs, where a layer knows it."""
        raise NotImplementedError

    def __call__(self, inputs, *args, **kwargs):
        """Builds if necessary and computes; `scope` may name the variable scope of the first call."""
        scope = kwargs.pop("scope", None)
        if self._keras_style:
            if scope is not None:
                raise ValueError("scope argument not allowed when keras style layers are enabled, but saw: %s" % scope)
            return self._called(inputs, args, kwargs)
        self._set_scope(scope)
        if self.built:
            # One object for all later calls, so that they get the same name scopes.
            if not hasattr(self, "_always_reuse_variable_scope"):
                self._always_reuse_variable_scope = vs.variable_scope(self._scope, reuse=True,
                                                                      auxiliary_name_scope=False)
            opened = self._always_reuse_variable_scope
        else:
            opened = vs.variable_scope(self._scope, reuse=self._reuse, auxiliary_name_scope=False)
        with opened as current:
            self._current_scope = current
            if "scope" in inspect.signature(self.call).parameters:
                kwargs["scope"] = current
            outputs = self._called(inputs, args, kwargs)
        _add_elements_to_collection(self.updates, ops.GraphKeys.UPDATE_OPS)
        return outputs

    def apply(self, inputs, *args, **kwargs):
        """The same as calling the layer."""
        return self.__call__(inputs, *args, **kwargs)

    def _called(self, inputs, args, kwargs):
        if any(isinstance(x, (np.ndarray, float, int)) for x in nest.flatten(inputs)):
            inputs = nest.map_structure(
                lambda x: ops.convert_to_tensor(x) if isinstance(x, (np.ndarray, float, int)) else x, inputs)
        assert_input_compatibility(self.input_spec, inputs, self.name)
        with ops.name_scope_v2(self._name_scope()):
            self._maybe_build(inputs)
            self._call_inputs = inputs
            try:
                outputs = self.call(inputs, *args, **kwargs)
            finally:
                self._call_inputs = None
            if outputs is None:
                raise ValueError("A layer's `call` method should return a Tensor or a list of Tensors, not None "
                                 "(layer: " +
                                 self.name + ").")
            self._handle_activity_regularization(inputs, outputs)
        return outputs

    def _maybe_build(self, inputs):
        if self.built:
            return
        flat = nest.flatten(inputs)
        if flat and self._dtype is None and hasattr(flat[0], "dtype"):
            self._dtype = flat[0].dtype.base_dtype.name
        shapes = None
        if all(hasattr(x, "shape") for x in flat):
            shapes = nest.map_structure(lambda x: x.shape, inputs)
        of_keras = self._keras_style or self._use_resource_variables  # a layer of a model is one
        lifted = of_keras and ops.executing_eagerly_outside_functions()
        with ops.init_scope() if lifted else contextlib.nullcontext():
            self.build(shapes)
        self.built = True

    def _handle_activity_regularization(self, inputs, outputs):
        if not self._activity_regularizer:
            return
        with ops.name_scope_v2("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                loss = self._activity_regularizer(output)
                batch_size = math_ops.cast(array_ops.shape(output)[0], loss.dtype)
                self.add_loss(loss / batch_size, inputs=inputs)

    # Copies and configuration

    def get_config(self):
        """The arguments of the constructor that all layers share."""
        return {"name": self.name, "trainable": self.trainable, "dtype": self.dtype}

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    def __deepcopy__(self, memo):
        result = self.__class__.__new__(self.__class__)
        memo[id(self)] = result
        for key, value in self.__dict__.items():
            if key in ("_scope", "_always_reuse_variable_scope"):
                value = copy.copy(value)
            elif not _is_tensor_or_list(value):
                value = copy.deepcopy(value, memo)
            setattr(result, key, value)
        return result


def _is_tensor_or_list(value):
    values = value if isinstance(value, (list, tuple)) else [value]
    kinds = (ops.Tensor, ops.Operation, tf_variables.Variable)
    return bool(values) and all(isinstance(v, kinds) for v in values)


def _instance(initializer):
    return initializer() if inspect.isclass(initializer) else initializer


def _default_initializer(layer_name, name, dtype):
    if dtype.is_floating:
        return init_ops.glorot_uniform_initializer()
    if dtype.is_integer or dtype.is_unsigned or dtype.is_bool:
        return init_ops.zeros_initializer()
    raise ValueError("An initializer for variable %s of type %s is required for layer %s" %
                     (name, dtype.base_dtype, layer_name))


def _reachable(inputs, op):
    """Whether `op` is computed from one of `inputs`."""
    sources = set(id(x.op) for x in inputs)
    seen, stack = set(), [op]
    while stack:
        current = stack.pop()
        if id(current) in sources:
            return True
        if current.name not in seen:
            seen.add(current.name)
            stack.extend(x.op for x in current.inputs)
            stack.extend(current.control_inputs)
    return False


def _add_elements_to_collection(elements, collection_list):
    for name in nest.flatten(collection_list):
        collection = ops.get_collection_ref(name)
        present = set(id(x) for x in collection)
        collection.extend(x for x in nest.flatten(elements) if id(x) not in present)
