"""Which strategy is in force, and whether the code that runs is a replica's or stands above all replicas."""
import contextlib
import threading


class _Mode:
    def __init__(self, strategy, replica_context=None):
        self.strategy, self.replica_context = strategy, replica_context

    def __enter__(self):
        _modes.stack.append(self)
        return self.strategy if self.replica_context is None else self.replica_context

    def __exit__(self, *_):
        if _modes.stack[-1:] != [self]:
            raise RuntimeError("Scopes of strategies end in another order than they began in.")
        _modes.stack.pop()


class CrossReplica(_Mode):
    """`with` it, the code stands above the replicas of a strategy."""


class Replica(_Mode):
    """`with` it, the code is that of a replica."""


class _Modes(threading.local):
    def __init__(self):
        self.stack = []


_modes = _Modes()
_default = None  # the mode where no strategy is in force
_everywhere = None  # the mode that experimental_set_strategy has set


def _default_mode():
    global _default
    if _default is None:
        from penstock._src.distribute.distribute_lib import DefaultStrategy
        strategy = DefaultStrategy()
        _default = Replica(strategy, strategy.extended._replica_context)
    return _default


def _mode():
    return _modes.stack[-1] if _modes.stack else _everywhere or _default_mode()


def get_strategy():
    """The strategy in force; a default one, of one replica, if there is none."""
    return _mode().strategy


def has_strategy():
    """Whether a strategy other than the default one is in force."""
    return get_strategy() is not _default_mode().strategy


def get_replica_context():
    """The ReplicaContext of the replica whose code this is; None above the replicas."""
    return _mode().replica_context


def in_cross_replica_context():
    """Whether the code stands above the replicas."""
    return _mode().replica_context is None


def get_cross_replica_context():
    """The strategy in force, above the replicas; None in one of them."""
    return get_strategy() if in_cross_replica_context() else None


def strategy_supports_no_merge_call():
    """Whether code of a replica may update variables without `merge_call`: where no strategy is in force."""
    return not has_strategy()


def maybe_merge_call(fn, strategy, *args, **kwargs):
    """What `fn(strategy, *args, **kwargs)` returns, called above all replicas if the strategy in force asks for it."""
    if strategy_supports_no_merge_call():
        return fn(strategy, *args, **kwargs)
    return get_replica_context().merge_call(fn, args=args, kwargs=kwargs)


def variable_sync_on_read_context():
    """Context manager under which variables that are summed over the replicas when they are read are read so: with one
    replica that is the case everywhere."""
    return contextlib.nullcontext()


def experimental_set_strategy(strategy):
    """Puts a strategy in force for good, or with None the default one again. RuntimeError: within a scope."""
    global _everywhere
    if _modes.stack:
        raise RuntimeError("Must not be called inside a `tf.distribute.Strategy` scope.")
    _everywhere = None if strategy is None or strategy is _default_mode().strategy else CrossReplica(strategy)


def require_cross_replica_context(strategy):
    """RuntimeError unless the code stands above the replicas of this strategy."""
    mode = _mode()
    if mode.strategy is strategy and mode.replica_context is None:
        return
    if mode.replica_context is not None:
        raise RuntimeError("Method requires being in cross-replica context, use get_replica_context().merge_call()")
    _mixed(mode.strategy, strategy)


def require_replica_context(context):
    """RuntimeError unless the code is that of this replica."""
    mode = _mode()
    if mode.replica_context is context:
        return
    if mode.replica_context is None:
        raise RuntimeError("Method requires being inside a replica, not in cross-replica context; use "
                           "`strategy.run` to call a function in replica context")
    _mixed(mode.strategy, context.strategy)


def require_cross_replica_or_no_strategy(strategy):
    """RuntimeError within a replica, or a scope of another strategy."""
    if has_strategy():
        require_cross_replica_context(strategy)


def _mixed(one, other):
    raise RuntimeError(f"Mixing different tf.distribute.Strategy objects: {one} is not {other}")
