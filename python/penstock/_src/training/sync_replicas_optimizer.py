"""SyncReplicasOptimizer: gradients of several workers are averaged before they are applied."""
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.queues import data_flow_ops
from penstock._src.ops.state import state_ops
from penstock._src.ops.state import variable_scope
from penstock._src.ops.state import variables
from penstock._src.base import tf_logging as logging
from penstock._src.training import optimizer
from penstock._src.training import queue_runner
from penstock._src.training import session_manager
from penstock._src.training import session_run_hook


class SyncReplicasOptimizer(optimizer.Optimizer):
    """Wraps an optimizer: collects gradients in accumulators, and lets workers go on by tokens in a queue.

    A gradient that was computed from older variables is dropped. The chief's queue runner applies the averages and puts
    a token for each worker into the queue, which holds the new global step.
    """

    def __init__(self, opt, replicas_to_aggregate, total_num_replicas=None, variable_averages=None,
                 variables_to_average=None, use_locking=False, name="sync_replicas"):
        total_num_replicas = replicas_to_aggregate if total_num_replicas is None else total_num_replicas
        super().__init__(use_locking, name)
        logging.info("SyncReplicasV2: replicas_to_aggregate=%s; total_num_replicas=%s", replicas_to_aggregate,
                     total_num_replicas)
        self._opt = opt
        self._replicas_to_aggregate = replicas_to_aggregate
        self._gradients_applied = False
        self._variable_averages = variable_averages
        self._variables_to_average = variables_to_average
        self._total_num_replicas = total_num_replicas
        self._tokens_per_step = max(total_num_replicas, replicas_to_aggregate)
        self._global_step = None
        self._sync_token_queue = None
        self._chief_queue_runner = None
        # Pairs of accumulator and device.
        self._accumulator_list = []

    def compute_gradients(self, *args, **kwargs):
        """The wrapped optimizer's."""
        return self._opt.compute_gradients(*args, **kwargs)

    def _accumulate(self, grad, var):
        """An operation that adds a gradient, and the average of enough of them."""
        name = var.name + "/grad_accum"
        if isinstance(grad, ops.Tensor):
            accumulator = data_flow_ops.ConditionalAccumulator(grad.dtype, shape=var.get_shape(), shared_name=name)
            applied = accumulator.apply_grad(grad, local_step=self._local_step)
            average = accumulator.take_grad(self._replicas_to_aggregate)
        elif isinstance(grad, ops.IndexedSlices):
            accumulator = data_flow_ops.SparseConditionalAccumulator(grad.dtype, shape=(), shared_name=name)
            applied = accumulator.apply_indexed_slices_grad(grad, local_step=self._local_step)
            average = accumulator.take_indexed_slices_grad(self._replicas_to_aggregate)
        else:
            raise ValueError("Unknown grad type!")
        self._accumulator_list.append((accumulator, var.device))
        return applied, average

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """An operation that hands in this worker's gradients and waits for the others'."""
        if not grads_and_vars:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        self._global_step = global_step
        train_ops, averages = [], []
        anchor = control_flow_ops.no_op()
        with ops.colocate_with(anchor):
            self._local_step = variable_scope.variable(
                initial_value=0, trainable=False, collections=[ops.GraphKeys.LOCAL_VARIABLES],
                dtype=global_step.dtype.base_dtype, name="sync_rep_local_step")
        self.local_step_init_op = state_ops.assign(self._local_step, global_step)
        chief_init_ops = [self.local_step_init_op]
        self.ready_for_local_init_op = variables.report_uninitialized_variables(variables.global_variables())
        with ops.name_scope(None, self._name):
            for grad, var in grads_and_vars:
                with ops.device(var.device):
                    average = None
                    if grad is not None:
                        applied, average = self._accumulate(grad, var)
                        train_ops.append(applied)
                    averages.append((average, var))
            with ops.device(global_step.device), ops.name_scope(""):
                update_op = self._opt.apply_gradients(averages, global_step)
            with ops.device(global_step.device), ops.name_scope(""):
                tokens_queue = data_flow_ops.FIFOQueue(-1, global_step.dtype.base_dtype, shapes=(),
                                                       name="sync_token_q", shared_name="sync_token_q")
                self._sync_token_queue = tokens_queue
                # The queue runner wants a queue to close.
                dummy_queue = data_flow_ops.FIFOQueue(1, dtypes.int32, shapes=(), name="dummy_queue",
                                                      shared_name="dummy_queue")
            with ops.device(global_step.device), ops.name_scope(""):
                with ops.control_dependencies(train_ops):
                    token = tokens_queue.dequeue()
                train_op = state_ops.assign(self._local_step, token)
                with ops.control_dependencies([update_op]):
                    # A token for each worker, so that none waits.
                    tokens = array_ops.fill([self._tokens_per_step], global_step)
                    sync_op = tokens_queue.enqueue_many((tokens,))
                if self._variable_averages is not None:
                    with ops.control_dependencies([sync_op]), ops.name_scope(""):
                        sync_op = self._variable_averages.apply(self._variables_to_average)
                self._chief_queue_runner = queue_runner.QueueRunner(dummy_queue, [sync_op])
            for accumulator, device in self._accumulator_list:
                with ops.device(device):
                    chief_init_ops.append(accumulator.set_global_step(global_step, name="SetGlobalStep"))
            self.chief_init_op = control_flow_ops.group(*chief_init_ops)
            self._gradients_applied = True
            return train_op

    def get_chief_queue_runner(self):
        """The runner that applies the averages; the chief starts it."""
        if not self._gradients_applied:
            raise ValueError("Should be called after apply_gradients().")
        return self._chief_queue_runner

    def get_slot(self, *args, **kwargs):
        """The wrapped optimizer's."""
        return self._opt.get_slot(*args, **kwargs)

    def variables(self):
        """The wrapped optimizer's."""
        return self._opt.variables()

    def get_slot_names(self, *args, **kwargs):
        """The wrapped optimizer's."""
        return self._opt.get_slot_names(*args, **kwargs)

    def get_init_tokens_op(self, num_tokens=-1):
        """An operation that puts the first tokens into the queue; the chief runs it."""
        if not self._gradients_applied:
            raise ValueError("get_init_tokens_op() should be called after apply_gradients().")
        needed = self._replicas_to_aggregate - self._total_num_replicas
        if num_tokens == -1:
            num_tokens = self._replicas_to_aggregate
        elif num_tokens < needed:
            raise ValueError("Too few tokens to finish the first step: %d (given) vs %d (needed)" %
                             (num_tokens, needed))
        if num_tokens <= 0:
            return control_flow_ops.no_op(name="no_init_tokens")
        with ops.device(self._global_step.device), ops.name_scope(""):
            tokens = array_ops.fill([num_tokens], self._global_step)
            return self._sync_token_queue.enqueue_many((tokens,))

    def make_session_run_hook(self, is_chief, num_tokens=-1):
        """A hook that initializes what synchronization needs."""
        return _SyncReplicasOptimizerHook(self, is_chief, num_tokens)


class _SyncReplicasOptimizerHook(session_run_hook.SessionRunHook):

    def __init__(self, sync_optimizer, is_chief, num_tokens):
        self._sync_optimizer = sync_optimizer
        self._is_chief = is_chief
        self._num_tokens = num_tokens

    def begin(self):
        sync = self._sync_optimizer
        if not sync._gradients_applied:
            raise ValueError("SyncReplicasOptimizer.apply_gradient should be called before using the hook.")
        self._ready_for_local_init_op = sync.ready_for_local_init_op
        self._local_init_op = sync.chief_init_op if self._is_chief else sync.local_step_init_op
        self._q_runner = sync.get_chief_queue_runner() if self._is_chief else None
        self._init_tokens_op = sync.get_init_tokens_op(self._num_tokens) if self._is_chief else None

    def after_create_session(self, session, coord):
        ready, why = session_manager._ready(self._ready_for_local_init_op, session,
                                            "Model is not ready for SyncReplicasOptimizer local init.")
        if not ready:
            raise RuntimeError("Init operations did not make model ready for SyncReplicasOptimizer local_init. Init "
                               "op: %s, error: %s" % (self._local_init_op.name, why))
        session.run(self._local_init_op)
        if self._init_tokens_op is not None:
            session.run(self._init_tokens_op)
        if self._q_runner is not None:
            self._q_runner.create_threads(session, coord=coord, daemon=True, start=True)
