"""Sums over shards, of which there is one."""
from penstock._src.graph import indexed_slices
from penstock._src.core_ops import array_ops


def check_groups(group_assignment):
    """ValueError unless the groups are those of a single shard."""
    if not group_assignment:
        return
    if not (isinstance(group_assignment, list) and all(isinstance(group, list) for group in group_assignment)):
        raise ValueError("group_assignment must be a list of list. Got {}".format(group_assignment))
    if group_assignment != [[0]]:
        raise ValueError("group_assignment must be a permutation of range(1). Got group_assignment={}".format(
            group_assignment))


def cross_replica_sum(x, group_assignment=None, name=None):
    """The sum of a tensor over the shards."""
    check_groups(group_assignment)
    if isinstance(x, indexed_slices.IndexedSlices):
        return indexed_slices.IndexedSlices(cross_replica_sum(x.values, None, name), x.indices, x.dense_shape)
    return array_ops.identity(x, name=name)
