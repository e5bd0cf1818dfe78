"""A QueueRunner whose enqueue operations are fed."""
from penstock._src.graph import errors
from penstock._src.training import queue_runner


class _FeedingQueueRunner(queue_runner.QueueRunner):
    """Calls a function for each enqueue operation that gives what to feed, until it raises OutOfRangeError."""

    def __init__(self, queue=None, enqueue_ops=None, close_op=None, cancel_op=None, feed_fns=None,
                 queue_closed_exception_types=(errors.OutOfRangeError, errors.CancelledError)):
        super().__init__(queue, enqueue_ops, close_op, cancel_op,
                         queue_closed_exception_types=queue_closed_exception_types)
        feed_fns = [lambda: None] * len(enqueue_ops) if feed_fns is None else feed_fns
        if len(feed_fns) != len(enqueue_ops):
            raise ValueError("If feed_fns is not None, it must have the same length as enqueue_ops.")
        self._feed_fns = dict(zip(enqueue_ops, feed_fns))

    def _enqueue_fn(self, sess, enqueue_op):
        feed_fn = self._feed_fns[enqueue_op]
        return lambda: sess.run(enqueue_op, feed_dict=feed_fn())

    def to_proto(self, export_scope=None):
        raise NotImplementedError("{} does not support serialization to proto.".format(type(self).__name__))
