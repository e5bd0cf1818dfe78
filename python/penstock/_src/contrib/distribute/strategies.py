"""Strategies and ways to reduce with the arguments that they had in contrib."""
import collections

from penstock._src.distribute import cross_device_ops as reductions
from penstock._src.distribute import distribution_strategy_context as contexts
from penstock._src.distribute import mirrored_strategy

DistributeConfig = collections.namedtuple("DistributeConfig", ["train_distribute", "eval_distribute", "remote_cluster"],
                                          defaults=[None, None, None])


class AllReduceCrossDeviceOps(reductions.CrossDeviceOps):
    """Reduces by an algorithm ("nccl", "hierarchical_copy"), in so many packs."""

    def __init__(self, all_reduce_alg="nccl", num_packs=1, agg_small_grads_max_bytes=0, agg_small_grads_max_group=10):
        self.all_reduce_alg, self.num_packs = all_reduce_alg, num_packs
        self.agg_small_grads_max_bytes = agg_small_grads_max_bytes
        self.agg_small_grads_max_group = agg_small_grads_max_group


class MirroredStrategy(mirrored_strategy.MirroredStrategy):
    """A replica on each device, or on each of so many GPUs. ValueError: both are given. UnimplementedError: several."""

    def __init__(self, devices=None, num_gpus=None, num_gpus_per_worker=None, cross_device_ops=None,
                 auto_shard_dataset=False, cross_tower_ops=None):
        count = num_gpus if num_gpus_per_worker is None else num_gpus_per_worker
        if devices is not None and count is not None:
            raise ValueError("Must only specify one of `devices` and `num_gpus`.")
        if count is not None and count > 1:
            devices = [f"/gpu:{i}" for i in range(count)]
        super().__init__(devices, cross_device_ops or cross_tower_ops)


def require_replica_context(replica_ctx):
    """RuntimeError unless the code is that of this replica."""
    contexts.require_replica_context(replica_ctx)
