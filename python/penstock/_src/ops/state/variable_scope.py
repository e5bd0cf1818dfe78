"""tf.get_variable and tf.variable_scope: variables found by name, with the settings of the scope they are in."""
import copy
import contextlib
import functools
import threading

from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.base.mode import disable_resource_variables, enable_resource_variables, resource_variables_enabled
from penstock._src.ops.state import ref_variable
from penstock._src.ops.state import resource_variable_ops
from penstock._src.ops.state import variables
from penstock._src.ops.state.variable_store import (
    AUTO_REUSE, EagerVariableStore, _PartitionInfo, _ReuseMode, _VariableStore, _call_partitioner,
    _get_default_variable_store, _get_slice_dim_and_num_slices, _iter_slices, _VARSTORE_KEY, with_variable_store)
from penstock._src.base import tf_logging as logging

VariableSynchronization = variables.VariableSynchronization
VariableAggregation = variables.VariableAggregation
variable = variables.VariableV1

_VARSCOPESTORE_KEY = ("__varscope",)


def no_regularizer(_):
    """Pass as `regularizer` to undo a scope's regularizer."""
    return None


class VariableScope(object):
    """The settings that get_variable falls back to, and the prefix of its names."""

    def __init__(self, reuse, name="", initializer=None, regularizer=None, caching_device=None, partitioner=None,
                 custom_getter=None, name_scope="", dtype=dtypes.float32, use_resource=None, constraint=None):
        self._name = name
        self._initializer = initializer
        self._regularizer = regularizer
        self._reuse = reuse
        self._caching_device = caching_device
        self._partitioner = partitioner
        self._custom_getter = custom_getter
        self._name_scope = name_scope
        self._dtype = dtype
        self._use_resource = use_resource
        self._constraint = constraint
        if ops.executing_eagerly():
            if caching_device is not None:
                raise NotImplementedError("Caching devices is not yet supported when eager execution is enabled.")
            self._reuse, self._use_resource = AUTO_REUSE, True

    @property
    def name(self):
        """The names before those of its variables, joined by slashes."""
        return self._name

    @property
    def original_name_scope(self):
        """The name scope that was opened with the variable scope."""
        return self._name_scope

    @property
    def reuse(self):
        """Whether get_variable finds variables (True), makes them (False), or does either (AUTO_REUSE)."""
        return self._reuse

    @property
    def initializer(self):
        """What variables begin with that have no initializer of their own."""
        return self._initializer

    @property
    def dtype(self):
        """The type of variables that are given none."""
        return self._dtype

    @property
    def use_resource(self):
        """Whether variables are resource variables; None leaves it to the program."""
        return self._use_resource

    @property
    def regularizer(self):
        """The penalty of variables that have none of their own."""
        return self._regularizer

    @property
    def caching_device(self):
        """Where reads of variables are kept; a device, or a function of an operation."""
        return self._caching_device

    @property
    def partitioner(self):
        """How variables are cut: a function of their shape and type."""
        return self._partitioner

    @property
    def custom_getter(self):
        """The function that is called instead of get_variable, with it as first argument."""
        return self._custom_getter

    @property
    def constraint(self):
        """What optimizers apply to the variables after an update."""
        return self._constraint

    def reuse_variables(self):
        """From now on get_variable in this scope finds variables and makes none."""
        self._reuse = True

    def set_initializer(self, initializer):
        """What variables of this scope begin with from here on."""
        self._initializer = initializer

    def set_dtype(self, dtype):
        """The type of variables of this scope from here on."""
        self._dtype = dtype

    def set_use_resource(self, use_resource):
        """Whether variables are resource variables from here on.

        ValueError: False while executing eagerly.
        """
        if ops.executing_eagerly() and not use_resource:
            raise ValueError("When eager execution is enabled, use_resource cannot be set to false.")
        self._use_resource = use_resource

    def set_regularizer(self, regularizer):
        """The penalty of variables of this scope from here on."""
        self._regularizer = regularizer

    def set_caching_device(self, caching_device):
        """Where reads of variables are kept from here on. NotImplementedError while executing eagerly."""
        if ops.executing_eagerly():
            raise NotImplementedError("Caching devices are not yet supported when eager execution is enabled.")
        self._caching_device = caching_device

    def set_partitioner(self, partitioner):
        """How variables of this scope are cut from here on."""
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter):
        """The function that is called instead of get_variable from here on."""
        self._custom_getter = custom_getter

    def get_collection(self, name):
        """The members of a collection whose names begin with this scope's."""
        return ops.get_collection(name, self._name + "/" if self._name else "")

    def trainable_variables(self):
        """The scope's members of the collection TRAINABLE_VARIABLES."""
        return self.get_collection(ops.GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self):
        """The scope's members of the collection GLOBAL_VARIABLES."""
        return self.get_collection(ops.GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self):
        """The scope's members of the collection LOCAL_VARIABLES."""
        return self.get_collection(ops.GraphKeys.LOCAL_VARIABLES)

    def get_variable(self, var_store, name, shape=None, dtype=None, initializer=None, regularizer=None, reuse=None,
                     trainable=None, collections=None, caching_device=None, partitioner=None, validate_shape=True,
                     use_resource=None, custom_getter=None, constraint=None,
                     synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE):
        """As tf.get_variable, with this scope's settings for what is None."""
        if regularizer is None:
            regularizer = self._regularizer
        if caching_device is None:
            caching_device = self._caching_device
        if partitioner is None:
            partitioner = self._partitioner
        if custom_getter is None:
            custom_getter = self._custom_getter
        if ops.executing_eagerly():  # a variable store that holds eager variables reuses them by itself
            reuse, use_resource = False, True
        if reuse is None:
            reuse = self._reuse
        if use_resource is None:
            use_resource = self._use_resource
        full_name = self.name + "/" + name if self.name else name
        # Variables are named by variable scopes alone.
        with ops.name_scope(None):
            if dtype is not None and initializer is not None and not callable(initializer):
                found = ops.convert_to_tensor(initializer).dtype.base_dtype
                if found != dtype:
                    raise ValueError("Initializer type '%s' and explicit dtype '%s' don't match." % (found, dtype))
            if initializer is None:
                initializer = self._initializer
            if constraint is None:
                constraint = self._constraint
            if dtype is None:
                dtype = self._dtype
            return var_store.get_variable(
                full_name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer, reuse=reuse,
                trainable=trainable, collections=collections, caching_device=caching_device, partitioner=partitioner,
                validate_shape=validate_shape, use_resource=use_resource, custom_getter=custom_getter,
                constraint=constraint, synchronization=synchronization, aggregation=aggregation)

    def _get_partitioned_variable(self, var_store, name, shape=None, dtype=None, initializer=None, regularizer=None,
                                  trainable=None, collections=None, caching_device=None, partitioner=None,
                                  validate_shape=True, use_resource=None, constraint=None,
                                  synchronization=VariableSynchronization.AUTO,
                                  aggregation=VariableAggregation.NONE):
        if self._custom_getter is not None:
            raise ValueError("Private access to _get_partitioned_variable is not allowed when a custom getter is set.  "
                             "Current custom getter: %s.  It is likely that you're using "
                             "create_partitioned_variables.  If so, consider instead using get_variable with a "
                             "non-empty partitioner parameter instead." % self._custom_getter)
        partitioner = self._partitioner if partitioner is None else partitioner
        if partitioner is None:
            raise ValueError("No partitioner was specified")
        full_name = "/".join(part for part in (self.name, name) if part)
        with ops.name_scope(None):
            return var_store._get_partitioned_variable(
                full_name, shape=shape, dtype=self._dtype if dtype is None else dtype,
                initializer=self._initializer if initializer is None else initializer,
                regularizer=self._regularizer if regularizer is None else regularizer,
                reuse=self.reuse, trainable=trainable, collections=collections,
                caching_device=self._caching_device if caching_device is None else caching_device,
                partitioner=partitioner, validate_shape=validate_shape,
                use_resource=self._use_resource if use_resource is None else use_resource,
                constraint=self._constraint if constraint is None else constraint,
                synchronization=synchronization, aggregation=aggregation)


class _VariableScopeStore(threading.local):
    """A graph's current variable scope, and how often each scope name was opened (each thread has its own)."""

    def __init__(self):
        super().__init__()
        self.current_scope = VariableScope(False)
        self.variable_scopes_count = {}

    def open_variable_scope(self, scope_name):
        self.variable_scopes_count[scope_name] = self.variable_scopes_count.get(scope_name, 0) + 1

    def close_variable_subscopes(self, scope_name):
        for name in self.variable_scopes_count:
            if scope_name is None or name.startswith(scope_name + "/"):
                self.variable_scopes_count[name] = 0

    def variable_scope_count(self, scope_name):
        return self.variable_scopes_count.get(scope_name, 0)


def get_variable_scope_store():
    """The scope store of the default graph."""
    found = ops.get_collection(_VARSCOPESTORE_KEY)
    if found:
        return found[0]
    store = _VariableScopeStore()
    ops.add_to_collection(_VARSCOPESTORE_KEY, store)
    return store


def get_variable_scope():
    """The current variable scope."""
    return get_variable_scope_store().current_scope


def get_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None, collections=None,
                 caching_device=None, partitioner=None, validate_shape=True, use_resource=None, custom_getter=None,
                 constraint=None, synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE):
    """The variable of that name in the current variable scope, made if the scope's reuse mode allows.

    Args:
      shape: Shape of a new variable, or to compare with a found one. Not with a constant `initializer`.
      initializer: A function (shape, dtype, partition_info) -> tensor, a class of such, a tensor or a value.
      regularizer: A function of the new variable whose result goes to REGULARIZATION_LOSSES.
      partitioner: A function (shape, dtype) -> number of slices for each axis.
      custom_getter: A function (getter, name, ...) that is called instead and may call `getter`.

    Raises:
      ValueError: it exists and must not, or the other way round, or shape or dtype differ.
    """
    return get_variable_scope().get_variable(
        _get_default_variable_store(), name, shape=shape, dtype=dtype, initializer=initializer,
        regularizer=regularizer, trainable=trainable, collections=collections, caching_device=caching_device,
        partitioner=partitioner, validate_shape=validate_shape, use_resource=use_resource,
        custom_getter=custom_getter, constraint=constraint, synchronization=synchronization, aggregation=aggregation)


def get_local_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=False,
                       collections=None, caching_device=None, partitioner=None, validate_shape=True,
                       use_resource=None, custom_getter=None, constraint=None,
                       synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE):
    """As get_variable, in LOCAL_VARIABLES and not trainable."""
    if collections:
        collections += [ops.GraphKeys.LOCAL_VARIABLES]
    else:
        collections = [ops.GraphKeys.LOCAL_VARIABLES]
    return get_variable(
        name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer, trainable=False,
        collections=collections, caching_device=caching_device, partitioner=partitioner,
        validate_shape=validate_shape, use_resource=use_resource, synchronization=synchronization,
        aggregation=aggregation, custom_getter=custom_getter, constraint=constraint)


def _get_partitioned_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=True,
                              collections=None, caching_device=None, partitioner=None, validate_shape=True,
                              use_resource=None, constraint=None, synchronization=VariableSynchronization.AUTO,
                              aggregation=VariableAggregation.NONE):
    scope = get_variable_scope()
    if scope.custom_getter is not None:
        raise ValueError("Private access to _get_partitioned_variable is not allowed when a custom getter is set.  "
                         "Current custom getter: %s.  It is likely that you're using create_partitioned_variables.  "
                         "If so, consider instead using get_variable with a non-empty partitioner parameter "
                         "instead." % scope.custom_getter)
    return scope._get_partitioned_variable(
        _get_default_variable_store(), name, shape=shape, dtype=dtype, initializer=initializer,
        regularizer=regularizer, trainable=trainable, collections=collections, caching_device=caching_device,
        partitioner=partitioner, validate_shape=validate_shape, use_resource=use_resource, constraint=constraint,
        synchronization=synchronization, aggregation=aggregation)


def _composed_getter(custom_getter, outer):
    """The inner scope's getter is asked first and finds the outer one's answer behind `getter`."""
    if outer is None:
        return custom_getter

    def composed(getter, *args, **kwargs):
        return custom_getter(functools.partial(outer, getter), *args, **kwargs)

    return composed


class _pure_variable_scope(object):
    """A variable scope without a name scope. Entered again, an object made of a VariableScope opens the same scope."""

    def __init__(self, name_or_scope, reuse=None, initializer=None, regularizer=None, caching_device=None,
                 partitioner=None, custom_getter=None, old_name_scope=None, dtype=dtypes.float32, use_resource=None,
                 constraint=None):
        self._name_or_scope = name_or_scope
        self._reuse = reuse
        self._old_name_scope = old_name_scope
        self._custom_getter = custom_getter
        self._constraint = constraint
        self._settings = dict(initializer=initializer, regularizer=regularizer, caching_device=caching_device,
                              partitioner=partitioner, dtype=dtype, use_resource=use_resource)
        self._store = get_variable_scope_store()
        self._entered_scope = None
        _get_default_variable_store()
        if isinstance(name_or_scope, VariableScope):
            self._new_name = name_or_scope.name
            self._given = self._derived(name_or_scope, reuse or name_or_scope.reuse, name_or_scope._name_scope)

    def _derived(self, base, reuse, name_scope):
        scope = VariableScope(reuse, name=self._new_name, custom_getter=base.custom_getter, name_scope=name_scope,
                              constraint=self._constraint, **{k: getattr(base, k) for k in self._settings})
        for key, value in self._settings.items():
            if value is not None:
                getattr(scope, "set_" + key)(value)
        if self._custom_getter is not None:
            scope.set_custom_getter(_composed_getter(self._custom_getter, base.custom_getter))
        return scope

    def __enter__(self):
        self._old = self._store.current_scope
        if isinstance(self._name_or_scope, VariableScope):
            self._store.open_variable_scope(self._new_name)
            self._old_subscopes = copy.copy(self._store.variable_scopes_count)
            scope = self._given
        else:
            self._new_name = self._old.name + "/" + self._name_or_scope if self._old.name else self._name_or_scope
            self._reuse = self._reuse or self._old.reuse
            name_scope = self._name_or_scope if self._old_name_scope is None else self._old_name_scope
            scope = self._derived(self._old, self._reuse, name_scope)
            self._store.open_variable_scope(self._new_name)
        self._store.current_scope = self._entered_scope = scope
        return scope

    def check_nesting(self):
        if self._store.current_scope is not self._entered_scope:
            raise RuntimeError("Improper nesting of variable_scope.")

    def __exit__(self, type_arg, value_arg, traceback_arg):
        self.check_nesting()
        if isinstance(self._name_or_scope, VariableScope):
            self._store.variable_scopes_count = self._old_subscopes
        else:
            # Names below a closed scope count anew, so that a second pass finds the same default names.
            self._store.close_variable_subscopes(self._new_name)
        self._store.current_scope = self._old


def _get_unique_variable_scope(prefix):
    store = get_variable_scope_store()
    outer = get_variable_scope().name
    name = outer + "/" + prefix if outer else prefix
    if store.variable_scope_count(name) == 0:
        return prefix
    index = 1
    while store.variable_scope_count("%s_%d" % (name, index)) > 0:
        index += 1
    return "%s_%d" % (prefix, index)


class variable_scope(object):
    """A context for get_variable: a prefix of names, settings, a reuse mode; and a name scope for operations.

    Args:
      name_or_scope: A name, or a VariableScope to enter again (from the root, wherever it is entered).
      default_name: Used, made unique, when `name_or_scope` is None.
      values: Tensors, to find the graph.
      reuse: True (variables must exist), AUTO_REUSE (made when missing), or None/False: as the scope around.
      auxiliary_name_scope: False opens no name scope.
    """

    def __init__(self, name_or_scope, default_name=None, values=None, initializer=None, regularizer=None,
                 caching_device=None, partitioner=None, custom_getter=None, reuse=None, dtype=None, use_resource=None,
                 constraint=None, auxiliary_name_scope=True):
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if reuse is False:
            reuse = None
        if not (reuse is True or reuse is None or reuse is AUTO_REUSE):
            raise ValueError("The reuse parameter must be True or False or None.")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError("The auxiliary_name_scope must be `True` or `False`, while get {}".format(
                auxiliary_name_scope))
        self._name_or_scope = name_or_scope
        self._default_name = default_name
        self._reuse = reuse
        self._auxiliary_name_scope = auxiliary_name_scope
        self._graph = ops._get_graph_from_inputs([] if values is None else values)
        self._settings = dict(initializer=initializer, regularizer=regularizer, caching_device=caching_device,
                              partitioner=partitioner, custom_getter=custom_getter, dtype=dtype,
                              use_resource=use_resource, constraint=constraint)
        self._pure = None
        self._current_name_scope = None
        self._exits = []

    def __enter__(self):
        stack = contextlib.ExitStack()
        try:
            if not ops.get_default_graph().building_function:
                stack.enter_context(self._graph.as_default())
            if self._pure is None:
                scope = self._first_entry(stack)
            else:
                if self._current_name_scope is not None:
                    stack.enter_context(self._current_name_scope)
                scope = stack.enter_context(self._pure)
        except BaseException:
            stack.close()
            raise
        self._exits.append(stack)
        return scope

    def _first_entry(self, stack):
        named = self._name_or_scope is not None
        if named and not isinstance(self._name_or_scope, (VariableScope, str)):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        if not named and self._reuse:
            raise ValueError("reuse=True cannot be used without a name_or_scope")
        if not self._auxiliary_name_scope:
            # The name scope around stays: entered again by its full name.
            current = ops.get_name_scope()
            name_scope = ops.name_scope(current + "/" if current else current)
        elif not named:
            name_scope = ops.name_scope(self._default_name)
        else:
            is_string = isinstance(self._name_or_scope, str)
            last = self._name_or_scope if is_string else self._name_or_scope.name.split("/")[-1]
            name_scope = ops.name_scope(last) if last else None
        old_name_scope = None
        if name_scope is not None:
            old_name_scope = stack.enter_context(name_scope)
            self._current_name_scope = name_scope
            if isinstance(self._name_or_scope, VariableScope):
                old_name_scope = self._name_or_scope.original_name_scope
        if named:
            pure = _pure_variable_scope(self._name_or_scope, reuse=self._reuse, old_name_scope=old_name_scope,
                                        **self._settings)
        else:
            pure = _pure_variable_scope(_get_unique_variable_scope(self._default_name),
                                        old_name_scope=old_name_scope, **self._settings)
        scope = stack.enter_context(pure)
        self._pure = pure
        return scope

    def __exit__(self, type_arg, value_arg, traceback_arg):
        # A scope that is left too early stays open and can be left later.
        self._pure.check_nesting()
        self._exits.pop().__exit__(type_arg, value_arg, traceback_arg)


@contextlib.contextmanager
def variable_op_scope(values, name_or_scope, default_name=None, initializer=None, regularizer=None,
                      caching_device=None, partitioner=None, custom_getter=None, reuse=None, dtype=None,
                      use_resource=None, constraint=None):
    """The older order of variable_scope's arguments."""
    logging.warn("tf.variable_op_scope(values, name, default_name) is deprecated, "
                 "use tf.variable_scope(name, default_name, values)")
    with variable_scope(name_or_scope, default_name=default_name, values=values, initializer=initializer,
                        regularizer=regularizer, caching_device=caching_device, partitioner=partitioner,
                        custom_getter=custom_getter, reuse=reuse, dtype=dtype, use_resource=use_resource,
                        constraint=constraint) as scope:
        yield scope


def default_variable_creator(next_creator=None, **kwargs):
    """The end of the chain of creators in version 1: makes the kind of variable that the scope asks for."""
    assert next_creator is None
    use_resource = kwargs.get("use_resource")
    if use_resource is None:
        use_resource = get_variable_scope().use_resource
    if use_resource is None:
        use_resource = resource_variables_enabled()
    use_resource = use_resource or ops.executing_eagerly()
    common = {key: kwargs.get(key) for key in (
        "initial_value", "trainable", "collections", "caching_device", "name", "variable_def", "dtype",
        "import_scope", "constraint", "synchronization", "aggregation", "shape")}
    common["validate_shape"] = kwargs.get("validate_shape", True)
    if use_resource:
        return resource_variable_ops.ResourceVariable(distribute_strategy=kwargs.get("distribute_strategy"), **common)
    return ref_variable.RefVariable(expected_shape=kwargs.get("expected_shape"), **common)


def default_variable_creator_v2(next_creator=None, **kwargs):
    """The end of the chain of creators in version 2: always a resource variable."""
    assert next_creator is None
    keys = ("initial_value", "trainable", "caching_device", "name", "variable_def", "dtype", "import_scope",
            "constraint", "distribute_strategy", "synchronization", "aggregation", "shape")
    return resource_variable_ops.ResourceVariable(validate_shape=kwargs.get("validate_shape", True),
                                                  **{key: kwargs.get(key) for key in keys})


@contextlib.contextmanager
def variable_creator_scope_v1(variable_creator):
    """Every variable made inside goes through `variable_creator(next_creator, **kwargs)`."""
    with ops.get_default_graph()._variable_creator_scope(variable_creator):
        yield


variable_creator_scope = variable_creator_scope_v1
