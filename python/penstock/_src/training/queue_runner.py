"""QueueRunner: threads that fill a queue by running its enqueue operations."""
import threading
import weakref

from penstock._src.graph import errors
from penstock._src.graph import ops
from penstock._src.base import tf_logging as logging


class QueueRunner(object):
    """The enqueue operations of a queue, each of which gets a thread.

    Exceptions of `queue_closed_exception_types` mean that the input is at its end; when the last thread has seen one,
    the
    queue is closed. Other exceptions stop the coordinator, or are kept in `exceptions_raised`.
    """

    def __init__(self, queue=None, enqueue_ops=None, close_op=None, cancel_op=None, queue_closed_exception_types=None,
                 queue_runner_def=None, import_scope=None):
        if queue_runner_def:
            if queue or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually exclusive.")
            self._init_from_proto(queue_runner_def, import_scope)
        else:
            self._init_from_args(queue, enqueue_ops, close_op, cancel_op, queue_closed_exception_types)
        self._lock = threading.Lock()
        self._runs_per_session = weakref.WeakKeyDictionary()  # session -> threads that have not ended
        self._exceptions_raised = []

    def _init_from_args(self, queue, enqueue_ops, close_op, cancel_op, types):
        if not queue or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        if types is not None and (not isinstance(types, tuple) or not types or
                                  not all(issubclass(t, errors.OpError) for t in types)):
            raise TypeError("queue_closed_exception_types, when provided, must be a tuple of tf.error types, but saw: "
                            "%s" % types)
        self._queue = queue
        self._enqueue_ops = enqueue_ops
        # Made now, while the graph may still grow.
        self._close_op = queue.close() if close_op is None else close_op
        self._cancel_op = queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        self._queue_closed_exception_types = types or (errors.OutOfRangeError,)

    def _init_from_proto(self, definition, import_scope):
        graph = ops.get_default_graph()

        def element(name):
            return graph.as_graph_element(ops.prepend_name_scope(name, import_scope))

        self._queue = element(definition.queue_name)
        self._enqueue_ops = [element(name) for name in definition.enqueue_op_name]
        self._close_op = element(definition.close_op_name)
        self._cancel_op = element(definition.cancel_op_name)
        self._queue_closed_exception_types = tuple(
            errors.exception_type_from_error_code(code) for code in definition.queue_closed_exception_types
        ) or (errors.OutOfRangeError,)

    @property
    def queue(self):
        return self._queue

    @property
    def enqueue_ops(self):
        return self._enqueue_ops

    @property
    def close_op(self):
        return self._close_op

    @property
    def cancel_op(self):
        return self._cancel_op

    @property
    def queue_closed_exception_types(self):
        return self._queue_closed_exception_types

    @property
    def exceptions_raised(self):
        """What went wrong in threads that have no coordinator to tell."""
        return self._exceptions_raised

    @property
    def name(self):
        return self._queue.name

    def _enqueue_fn(self, sess, enqueue_op):
        return sess.make_callable(enqueue_op)

    def _run(self, sess, enqueue_op, coord=None):
        counted = True
        try:
            enqueue = self._enqueue_fn(sess, enqueue_op)
            while not (coord and coord.should_stop()):
                try:
                    enqueue()
                except self._queue_closed_exception_types:
                    with self._lock:
                        self._runs_per_session[sess] -= 1
                        counted = False
                        if self._runs_per_session[sess] == 0:
                            _quietly(sess, self._close_op)
                        return
        except Exception as e:
            if coord:
                coord.request_stop(e)
            else:
                logging.error("Exception in QueueRunner: %s", str(e))
                with self._lock:
                    self._exceptions_raised.append(e)
                raise
        finally:
            if counted:
                with self._lock:
                    self._runs_per_session[sess] -= 1

    def _close_on_stop(self, sess, cancel_op, coord):
        coord.wait_for_stop()
        _quietly(sess, cancel_op)

    def create_threads(self, sess, coord=None, daemon=False, start=False):
        """The threads, one for each enqueue operation; none if those of this session still run.

        With a coordinator there is one more, which closes the queue on its stop.
        """
        with self._lock:
            if self._runs_per_session.get(sess, 0) > 0:
                return []
            self._runs_per_session[sess] = len(self._enqueue_ops)
            self._exceptions_raised = []
        name = "QueueRunnerThread-{}-".format(self.name)
        threads = [threading.Thread(target=self._run, args=(sess, op, coord), name=name + op.name)
                   for op in self._enqueue_ops]
        if coord:
            threads.append(threading.Thread(target=self._close_on_stop, args=(sess, self._cancel_op, coord),
                                            name=name + "close_on_stop"))
        for t in threads:
            if coord:
                coord.register_thread(t)
            if daemon:
                t.daemon = True
            if start:
                t.start()
        return threads

    def to_proto(self, export_scope=None):
        """A QueueRunnerDef, or None for a queue outside `export_scope`."""
        if export_scope is not None and not self.queue.name.startswith(export_scope):
            return None
        from penstock.proto import queue_runner_pb2
        return queue_runner_pb2.QueueRunnerDef(
            queue_name=ops.strip_name_scope(self.queue.name, export_scope),
            enqueue_op_name=[ops.strip_name_scope(op.name, export_scope) for op in self.enqueue_ops],
            close_op_name=ops.strip_name_scope(self.close_op.name, export_scope),
            cancel_op_name=ops.strip_name_scope(self.cancel_op.name, export_scope),
            queue_closed_exception_types=[errors.error_code_from_exception_type(t)
                                          for t in self._queue_closed_exception_types])

    @staticmethod
    def from_proto(queue_runner_def, import_scope=None):
        """The QueueRunner that a QueueRunnerDef describes; ops are looked for in `import_scope`."""
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)


def _quietly(sess, op):
    # Closing a queue in a session that is being closed itself may fail, which harms nobody.
    try:
        sess.run(op)
    except Exception as e:
        logging.vlog(1, "Ignored exception: %s", str(e))


def add_queue_runner(qr, collection=ops.GraphKeys.QUEUE_RUNNERS):
    """Adds a QueueRunner to those that start_queue_runners starts."""
    ops.add_to_collection(collection, qr)


def start_queue_runners(sess=None, coord=None, daemon=True, start=True, collection=ops.GraphKeys.QUEUE_RUNNERS):
    """Starts the threads of all queue runners of the graph and returns them."""
    if sess is None:
        sess = ops.get_default_session()
        if not sess:
            raise ValueError("Cannot start queue runners: No default session is registered. Use `with "
                             "sess.as_default()` or pass an explicit session to tf.start_queue_runners(sess=sess)")
    if not hasattr(sess, "make_callable"):
        # Monitored sessions have started them already.
        if sess.__class__.__name__ in ("MonitoredSession", "SingularMonitoredSession"):
            return []
        raise TypeError("sess must be a `tf.Session` object. Given class: {}".format(sess.__class__))
    runners = ops.get_collection(collection)
    if not runners:
        logging.warning("`tf.train.start_queue_runners()` was called when no queue runners were defined. You can "
                        "safely remove the call to this deprecated function.")
    with sess.graph.as_default():
        return [t for qr in runners
                for t in qr.create_threads(sess, coord=coord, daemon=daemon, start=start)]


def _register():
    from penstock.proto import queue_runner_pb2
    ops.register_proto_function(ops.GraphKeys.QUEUE_RUNNERS, proto_type=queue_runner_pb2.QueueRunnerDef,
                                to_proto=QueueRunner.to_proto, from_proto=QueueRunner.from_proto)


_register()
