"""Optimizer: what all optimizers of version 1 share, from the gradients of a loss to the operation that applies
them."""
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.gradient import gradients_impl
from penstock._src.core_ops import math_ops
from penstock._src.ops.state import resource_variable_ops
from penstock._src.ops.state import state_ops
from penstock._src.ops.state import variable_scope
from penstock._src.ops.state import variables
from penstock._src.training import slot_creator
from penstock._src.ops.state import base as trackable
from penstock._src.base import nest


def _deduplicate_indexed_slices(values, indices):
    """(values, indices) with one row for each index: rows of equal index are summed."""
    unique, positions = array_ops.unique(indices)
    summed = gen.unsorted_segment_sum(values, positions, array_ops.shape(unique)[0])
    return summed, unique


def _var_key(var):
    """What slots of `var` are found by: the same for every Python object that stands for the variable."""
    return (var.op.graph, var.op.name) if hasattr(var, "op") else var._unique_id


def _current_graph():
    """What the optimizer's own variables are kept by: the graph, or None in eager mode."""
    return None if ops.executing_eagerly() else ops.get_default_graph()


class _VariableProcessor(object):
    """How a gradient reaches one kind of variable."""

    def __init__(self, v):
        self._v = v

    def __str__(self):
        return "<%s(%s)>" % (type(self).__name__, self._v)

    def _constrained(self, update_op):
        if self._v.constraint is None:
            return update_op
        with ops.control_dependencies([update_op]):
            return self._v.assign(self._v.constraint(self._updated()))

    def _updated(self):
        """What the constraint gets, behind the update: a variable behind a handle is read where it is used."""
        return self._v

    def _refuse_constraint(self):
        if self._v.constraint is not None:
            raise RuntimeError("Cannot use a constraint function on a sparse variable.")


class _RefVariableProcessor(_VariableProcessor):
    """A variable that is a reference."""

    def target(self):
        return self._v._ref()

    def _updated(self):
        return self._v.read_value()  # the read that the variable has already may precede the update

    def update_op(self, optimizer, g):
        if isinstance(g, ops.Tensor):
            return self._constrained(optimizer._apply_dense(g, self._v))
        assert isinstance(g, ops.IndexedSlices), ("Gradient ", g, " is neither a tensor nor IndexedSlices.")
        self._refuse_constraint()
        return optimizer._apply_sparse_duplicate_indices(g, self._v)


class _DenseResourceVariableProcessor(_VariableProcessor):
    """A variable behind a handle."""

    def target(self):
        return self._v

    def update_op(self, optimizer, g):
        if isinstance(g, ops.IndexedSlices):
            self._refuse_constraint()
            return optimizer._resource_apply_sparse_duplicate_indices(g.values, self._v, g.indices)
        return self._constrained(optimizer._resource_apply_dense(g, self._v))


class _TensorProcessor(_VariableProcessor):
    """A tensor: gradients can be computed, not applied."""

    def target(self):
        return self._v

    def update_op(self, optimizer, g):
        raise NotImplementedError("Trying to update a Tensor ", self._v)


def _get_processor(v):
    if resource_variable_ops.is_resource_variable(v):
        return _DenseResourceVariableProcessor(v)
    if ops.executing_eagerly():
        if isinstance(v, ops.Tensor):
            return _TensorProcessor(v)
    elif v.op.type == "VarHandleOp":
        return _DenseResourceVariableProcessor(v)
    if isinstance(v, variables.Variable):
        return _RefVariableProcessor(v)
    if isinstance(v, ops.Tensor):
        return _TensorProcessor(v)
    raise NotImplementedError("Trying to optimize unsupported type ", v)


def _checked_gradient(g):
    if g is None:
        return None
    try:
        g = ops.convert_to_tensor_or_indexed_slices(g)
    except TypeError:
        raise TypeError("Gradient must be convertible to a Tensor or IndexedSlices, or None: %s" % g)
    if not isinstance(g, (ops.Tensor, ops.IndexedSlices)):
        raise TypeError("Gradient must be a Tensor, IndexedSlices, or None: %s" % g)
    return g


GRAD = object()  # where the gradient stands among the arguments of an update op


class _KernelUpdate:
    """An update that is one op in four forms: dense or sparse, for references or for resources.

    An optimizer that is of this kind names the op (`_kernel`, "adagrad" for ApplyAdagrad and its kin) and gives the
    arguments that follow the variable: slots, tensors and GRAD. The sparse forms take the indices right after the
    gradient. It lies below Optimizer, not above, as programs expect optimizers to derive from that directly.
    """

    _kernel = None

    def _kernel_options(self):
        """Attributes of the op."""
        return {}

    def _arguments(self, var):
        raise NotImplementedError

    def _slots_of(self, var, *names):
        return [self.get_slot(var, name) for name in names]

    @staticmethod
    def _cast(var, *tensors):
        return [math_ops.cast(t, var.dtype.base_dtype) for t in tensors]

    def _call(self, prefix, var, gradient):
        if self._kernel is None:
            raise NotImplementedError()
        resource = prefix.startswith("resource_")
        state = [var] + [self.get_slot(var, name) for name in self._slots]
        arguments = []
        for argument in [var] + list(self._arguments(var)):
            if argument is GRAD:
                arguments.extend(gradient)
            elif resource and any(argument is s for s in state):
                arguments.append(argument.handle)
            else:
                arguments.append(argument)
        op = getattr(gen, prefix + "apply_" + self._kernel)
        return op(*arguments, use_locking=self._use_locking, **self._kernel_options())

    def _apply_dense(self, grad, var):
        """An operation that applies a dense gradient to a reference variable."""
        return self._call("", var, [grad]).op

    def _resource_apply_dense(self, grad, handle):
        """An operation that applies a dense gradient to a resource variable."""
        return self._call("resource_", handle, [grad])

    def _apply_sparse(self, grad, var):
        """An operation that applies IndexedSlices without repeated indices to a reference variable."""
        return self._call("sparse_", var, [grad.values, grad.indices]).op

    def _resource_apply_sparse(self, grad, handle, indices):
        """An operation that applies rows without repeated indices to a resource variable."""
        return self._call("resource_sparse_", handle, [grad, indices])

    def _tensor(self, value, name):
        return ops.convert_to_tensor(self._call_if_callable(value), name=name)


class Optimizer(_KernelUpdate, trackable.Trackable):
    """Base of the optimizers.

    `minimize` is `compute_gradients` followed by `apply_gradients`; between the two a program may change the gradients.
    A subclass defines `_apply_dense` and the other `_apply` methods, or names its update op, and may define
    `_create_slots`, `_prepare` and `_finish`. A slot is a variable that goes with a variable, such as its momentum.
    """

    # How much of the gradients' computation must be done before any is used
    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(self, use_locking, name):
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        self._slots = {}         # slot name -> {key of variable: slot}
        self._non_slot_dict = {}  # (name, graph) -> variable
        self._deferred_slot_restorations = {}  # slot name -> {key of variable: positions in checkpoints}

    def get_name(self):
        """The optimizer's name, which those of its slots begin with."""
        return self._name

    def minimize(self, loss, global_step=None, var_list=None, gate_gradients=GATE_OP, aggregation_method=None,
                 colocate_gradients_with_ops=False, name=None, grad_loss=None):
        """An operation that updates `var_list` (all trainable variables if None) so that `loss` falls.

        `global_step`, if given, then grows by one.
        """
        grads_and_vars = self.compute_gradients(
            loss, var_list=var_list, gate_gradients=gate_gradients, aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops, grad_loss=grad_loss)
        if all(g is None for g, _ in grads_and_vars):
            raise ValueError("No gradients provided for any variable, check your graph for ops that do not support "
                             "gradients, between variables %s and loss %s." %
                             ([str(v) for _, v in grads_and_vars], loss))
        return self.apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def compute_gradients(self, loss, var_list=None, gate_gradients=GATE_OP, aggregation_method=None,
                          colocate_gradients_with_ops=False, grad_loss=None):
        """[(gradient or None, variable)]; a gradient is a tensor or IndexedSlices.

        `loss` may be a function of nothing; then, without `var_list`, only the variables it depends on are listed.
        """
        if callable(loss) and (ops.executing_eagerly() or ops.inside_function()):
            return self._recorded_gradients(loss, var_list, grad_loss)
        if ops.executing_eagerly():
            raise RuntimeError("`loss` passed to Optimizer.compute_gradients should be a function when eager execution "
                               "is enabled.")
        if callable(loss):
            pairs = self.compute_gradients(loss(), var_list, gate_gradients, aggregation_method,
                                           colocate_gradients_with_ops, grad_loss)
            return pairs if var_list is not None else [(g, v) for g, v in pairs if g is not None]
        if gate_gradients not in (Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH):
            raise ValueError("gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
                             "Optimizer.GATE_GRAPH.  Not %s" % gate_gradients)
        self._assert_valid_dtypes([loss])
        if grad_loss is not None:
            self._assert_valid_dtypes([grad_loss])
        if var_list is None:
            var_list = (variables.trainable_variables() +
                        ops.get_collection(ops.GraphKeys.TRAINABLE_RESOURCE_VARIABLES))
        else:
            var_list = nest.flatten(var_list)
        var_list = var_list + ops.get_collection(ops.GraphKeys._STREAMING_MODEL_PORTS)
        processors = [_get_processor(v) for v in var_list]
        if not var_list:
            raise ValueError("No variables to optimize.")
        grads = gradients_impl.gradients(
            loss, [p.target() for p in processors], grad_ys=grad_loss,
            gate_gradients=(gate_gradients == Optimizer.GATE_OP), aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops)
        if gate_gradients == Optimizer.GATE_GRAPH:
            grads = control_flow_ops.tuple(grads)
        grads_and_vars = list(zip(grads, var_list))
        self._assert_valid_dtypes([v for g, v in grads_and_vars if g is not None and v.dtype != dtypes.resource])
        return grads_and_vars

    @staticmethod
    def _recorded_gradients(loss, var_list, grad_loss):
        from penstock._src.gradient import backprop
        with backprop.GradientTape() as tape:
            if var_list is not None:
                tape.watch(var_list)
            value = loss()
        var_list = tape.watched_variables() if var_list is None else nest.flatten(var_list)
        return list(zip(tape.gradient(value, var_list, grad_loss), var_list))

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """An operation that applies what compute_gradients returned; `global_step`, if given, then grows by one."""
        name = self.get_name() if name is None else name
        grads_and_vars = tuple(grads_and_vars)
        if not grads_and_vars:
            raise ValueError("No variables provided.")
        updates = [(_checked_gradient(g), v, _get_processor(v)) for g, v in grads_and_vars]
        var_list = [v for g, v, _ in updates if g is not None]
        if not var_list:
            raise ValueError("No gradients provided for any variable: %s." % ([str(v) for _, v, _ in updates],))
        with ops.init_scope():
            self._create_slots(var_list)
        with ops.name_scope(name, self._name) as scope:
            self._prepare()
            update_ops = []
            for grad, var, processor in updates:
                if grad is not None:
                    nameless = ops.executing_eagerly() or not getattr(var, "_in_graph_mode", True)
                    scope_name = "" if nameless else var.op.name
                    with ops.name_scope("update_" + scope_name), ops.colocate_with(var):
                        update_ops.append(processor.update_op(self, grad))
            if global_step is None:
                apply_updates = self._finish(update_ops, scope)
            else:
                with ops.control_dependencies([self._finish(update_ops, "update")]), ops.colocate_with(global_step):
                    apply_updates = _incremented(global_step, scope)
            if ops.executing_eagerly():
                return apply_updates
            if isinstance(apply_updates, ops.Tensor):
                apply_updates = apply_updates.op
            train_ops = ops.get_collection_ref(ops.GraphKeys.TRAIN_OP)
            if apply_updates not in train_ops:
                train_ops.append(apply_updates)
            return apply_updates

    # Slots and other variables of the optimizer

    def get_slot(self, var, name):
        """The slot `name` of `var`, or None."""
        return self._slots.get(name, {}).get(_var_key(var))

    def get_slot_names(self):
        """The sorted names of all kinds of slots that there are."""
        return sorted(self._slots)

    def variables(self):
        """All variables in the default graph that the optimizer made, by name."""
        graph = ops.get_default_graph()
        made = list(self._non_slot_variables())
        for slots in self._slots.values():
            made.extend(slots.values())
        if not ops.executing_eagerly():
            made = [v for v in made if v.graph is graph]
        return sorted(made, key=lambda v: v.name)

    def _create_non_slot_variable(self, initial_value, name, colocate_with):
        key = (name, None if ops.executing_eagerly() else colocate_with.graph)
        if key not in self._non_slot_dict:
            with ops.colocate_with(colocate_with):
                made = variable_scope.variable(
                    initial_value, name=name, trainable=False,
                    use_resource=resource_variable_ops.is_resource_variable(colocate_with))
            self._handle_deferred_dependencies(name=name, trackable=made)
            self._non_slot_dict[key] = made
        return self._non_slot_dict[key]

    def _get_non_slot_variable(self, name, graph=None):
        return self._non_slot_dict.get((name, None if graph is not None and graph._eager else graph))

    def _non_slot_variables(self):
        return self._non_slot_dict.values()

    def _slot_dict(self, slot_name):
        return self._slots.setdefault(slot_name, {})

    def _slot(self, var, slot_name, make):
        """The slot of a variable, made if it is missing, and restored if a checkpoint waits for it."""
        slots = self._slot_dict(slot_name)
        key = _var_key(var)
        if key not in slots:
            made = make()
            waiting = self._deferred_slot_restorations.get(slot_name, {}).pop(key, [])
            for position in sorted(waiting, key=lambda p: p.restore_uid, reverse=True):
                position.restore(made)
            slots[key] = made
        return slots[key]

    def _get_or_make_slot(self, var, val, slot_name, op_name):
        return self._slot(var, slot_name, lambda: slot_creator.create_slot(var, val, op_name))

    def _get_or_make_slot_with_initializer(self, var, initializer, shape, dtype, slot_name, op_name):
        return self._slot(var, slot_name, lambda: slot_creator.create_slot_with_initializer(
            var, initializer, shape, dtype, op_name))

    def _zeros_slot(self, var, slot_name, op_name):
        return self._slot(var, slot_name, lambda: slot_creator.create_zeros_slot(var, op_name))

    # In checkpoints

    @property
    def _checkpoint_dependencies(self):
        """The variables of this graph that belong to no variable."""
        graph = _current_graph()
        own = [trackable.TrackableReference(name=name, ref=variable)
               for (name, key), variable in sorted(self._non_slot_dict.items(), key=lambda item: item[0][0])
               if key is graph]
        return super()._checkpoint_dependencies + own

    def _lookup_dependency(self, name, cached_dependencies=None):
        found = super()._lookup_dependency(name, cached_dependencies)
        return self._get_non_slot_variable(name, graph=_current_graph()) if found is None else found

    def _create_or_restore_slot_variable(self, slot_variable_position, slot_name, variable):
        """Restores a slot now, or when it is made."""
        key = _var_key(variable)
        slot = self._slot_dict(slot_name).get(key)
        # Inside of a creator's scope, as a template's, it would become part of what is not the optimizer.
        alone = not ops.get_default_graph()._variable_creator_stack
        if slot is None and ops.executing_eagerly() and alone and slot_variable_position.is_simple_variable():
            value = slot_variable_position.value_tensors()[trackable.VARIABLE_VALUE_KEY]
            slot = self._get_or_make_slot(var=variable, val=value, slot_name=slot_name, op_name=self._name)
        if slot is not None:
            slot_variable_position.restore(slot)
        else:
            self._deferred_slot_restorations.setdefault(slot_name, {}).setdefault(key, []).append(
                slot_variable_position)

    # For subclasses

    def _assert_valid_dtypes(self, tensors):
        valid = self._valid_dtypes()
        for t in tensors:
            dtype = t.dtype.base_dtype
            if dtype not in valid:
                raise ValueError("Invalid type %r for %s, expected: %s." % (dtype, t.name, list(valid)))

    def _valid_dtypes(self):
        """The types that losses and variables may have."""
        return set([dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64])

    def _create_slots(self, var_list):
        """Makes the slots of the variables; called before each application."""

    def _prepare(self):
        """Makes the tensors of the hyperparameters; called in the name scope of the application."""

    def _apply_sparse_duplicate_indices(self, grad, var):
        """As _apply_sparse, but indices may repeat. Optimizers that are linear in the gradient need not sum first."""
        values, indices = _deduplicate_indexed_slices(values=grad.values, indices=grad.indices)
        return self._apply_sparse(
            ops.IndexedSlices(indices=indices, values=values, dense_shape=grad.dense_shape), var)

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
        """As _resource_apply_sparse, but indices may repeat."""
        values, unique = _deduplicate_indexed_slices(values=grad, indices=indices)
        return self._resource_apply_sparse(values, handle, unique)

    def _finish(self, update_ops, name_scope):
        """An operation of that name that stands for the whole update."""
        return control_flow_ops.group(*update_ops, name=name_scope)

    def _call_if_callable(self, param):
        return param() if callable(param) else param


def _incremented(global_step, name):
    if isinstance(global_step, resource_variable_ops.BaseResourceVariable):
        return gen.assign_add_variable_op(global_step.handle, ops.convert_to_tensor(1, dtype=global_step.dtype),
                                          name=name)
    return state_ops.assign_add(global_step, 1, name=name)
