"""Seeds: of the graph and of single operations."""
from penstock._src.graph import defaults

DEFAULT_GRAPH_SEED = 87654321
_MAXINT32 = 2**31 - 1


def _truncate_seed(seed):
    return seed % _MAXINT32


def get_seed(op_seed):
    """(graph seed, operation seed) for a random operation, both None for one that is different in each run.

    With the graph's seed alone, the number of operations made so far serves as the operation's seed. RuntimeError: no
    seed at all, while `enable_op_determinism` asks for the same results each time.
    """
    graph = defaults.get_default_graph()
    if graph._eager:
        from penstock._src.graph import context
        default = context.global_seed()
        if default is not None and op_seed is None:
            op_seed = context.internal_operation_seed()
    else:
        default = graph.seed
    if op_seed is None:
        graph._seed_used = True
    if default is not None:
        seeds = default, graph._random_op_seed() if op_seed is None else op_seed
    elif op_seed is not None:
        seeds = DEFAULT_GRAPH_SEED, op_seed
    else:
        from penstock._src.graph import config
        if config.is_op_determinism_enabled():
            raise RuntimeError("Random ops require a seed to be set when determinism is enabled. Please set a seed "
                               "before running the op, e.g. by calling tf.random.set_seed(1).")
        return None, None
    seeds = tuple(_truncate_seed(s) for s in seeds)
    return (0, _MAXINT32) if seeds == (0, 0) else seeds  # (0, 0) stands for "no seed"


def set_random_seed(seed):
    """Sets the default graph's seed, or that of eager execution."""
    graph = defaults.get_default_graph()
    if graph._eager:
        from penstock._src.graph import context
        context.set_global_seed(seed)
    else:
        graph.seed = seed


set_seed = set_random_seed
