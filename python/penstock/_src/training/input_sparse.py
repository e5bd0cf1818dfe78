"""Sparse tensors on their way through a queue: stored in a map, of which the queue carries the keys."""
from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.control_flow import smart_cond
from penstock._src.graph import sparse_tensor
from penstock._src.graph import tensor_shape
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.sparse import sparse_ops


class _SparseMetaData:
    """Whether a tensor is sparse, where it is stored, and its rank."""

    def __init__(self, sparse, map_op, rank):
        self.sparse = sparse
        self.map_op = map_op
        self.rank = tensor_shape.Dimension(rank)

    def __eq__(self, other):
        if self.sparse != other.sparse:
            return False
        return not self.sparse or (self.map_op is other.map_op and self.rank.is_compatible_with(other.rank))

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def __str__(self):
        return "[SparseMetaData(%s, %s, %s)]" % (self.sparse, self.map_op.name, self.rank)

    def merge_with(self, other):
        """What is known of both."""
        if self != other:
            raise ValueError("SparseMetaData objects are incompatible: %s vs. %s" % (self, other))
        if self.sparse:
            self.rank.merge_with(other.rank)
        return self


def _store_one(t, shared_name):
    return gen.add_sparse_to_tensors_map(t.indices, t.values, t.dense_shape, shared_name=shared_name)


def _store_many(t, shared_name):
    return gen.add_many_sparse_to_tensors_map(t.indices, t.values, t.dense_shape, shared_name=shared_name)


def _stored(t, shared_map_op, enqueue_many, keep_input):
    """A dense tensor as it is; the keys of a sparse one."""
    if not isinstance(t, sparse_tensor.SparseTensor):
        return t
    name = shared_map_op.name if shared_map_op else None
    if keep_input.shape.ndims == 1:
        kept = sparse_ops.sparse_retain(t, array_ops.gather(keep_input, t.indices[:, 0]))
        return _store_many(kept, name)
    if not enqueue_many:
        return smart_cond.smart_cond(keep_input, lambda: _store_one(t, name),
                                     lambda: constant_op.constant(-1, dtypes.int64))
    keys = smart_cond.smart_cond(keep_input, lambda: _store_many(t, name),
                                 lambda: -1 * array_ops.ones(array_ops.shape(t)[0:1], dtypes.int64))
    keys.set_shape([None])
    return keys


def _map_op(stored):
    # It stands inside of a conditional if it depends on `keep_input`.
    for tensor in stored.op.inputs:
        if tensor.op.type in ("AddSparseToTensorsMap", "AddManySparseToTensorsMap"):
            return tensor.op
    return stored.op


def store_sparse_tensors(tensor_list, enqueue_many, keep_input, shared_map_ops=None):
    """Dense tensors for a queue, and what tells how to get the sparse ones back."""
    shared_map_ops = shared_map_ops or [None] * len(tensor_list)
    stored_list, infos = [], []
    for t, shared in zip(tensor_list, shared_map_ops):
        stored = _stored(t, shared, enqueue_many, keep_input)
        if isinstance(t, sparse_tensor.SparseTensor):
            rank = t.dense_shape.shape.with_rank(1).dims[0]
            infos.append(_SparseMetaData(True, shared or _map_op(stored), rank - 1 if enqueue_many else rank))
            stored = array_ops.expand_dims(stored, [-1])
        else:
            infos.append(_SparseMetaData(False, None, None))
        stored_list.append(stored)
    return stored_list, infos


def store_sparse_tensors_join(tensor_list_list, enqueue_many, keep_input):
    """The same for several lists of the same kinds."""
    first, infos = store_sparse_tensors(tensor_list_list[0], enqueue_many, keep_input)
    lists = [first]
    for tensor_list in tensor_list_list[1:]:
        stored, candidates = store_sparse_tensors(tensor_list, enqueue_many, keep_input, [i.map_op for i in infos])
        if infos != candidates:
            raise ValueError("Inconsistent SparseTensors list: %s vs. %s" % (tensor_list_list[0], tensor_list))
        infos = [info.merge_with(candidate) for info, candidate in zip(infos, candidates)]
        lists.append(stored)
    return lists, infos


def _restore(info, stored):
    keys = array_ops.squeeze(stored, [1])
    name = info.map_op.get_attr("shared_name").decode() if info.map_op.get_attr("shared_name") else info.map_op.name
    with ops.colocate_with(info.map_op):
        indices, values, shape = gen.take_many_sparse_from_tensors_map(
            keys, dtype=info.map_op.get_attr("T"), container=info.map_op.get_attr("container"), shared_name=name)
    rank = tensor_shape.dimension_value(info.rank + 1)
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return sparse_tensor.SparseTensor(indices, values, shape)


def restore_sparse_tensors(stored_list, infos):
    """What `store_sparse_tensors` was given, taken out of the queue."""
    is_sequence = isinstance(stored_list, (list, tuple))
    stored_list = stored_list if is_sequence else (stored_list,)
    tensors = [_restore(info, s) if info.sparse else s for s, info in zip(stored_list, infos)]
    if any(info.sparse for info in infos):
        # Keys that are taken from the queue must be taken from the map.
        values = [x.values if isinstance(x, sparse_tensor.SparseTensor) else x for x in tensors]

        def after(x):
            return control_flow_ops.with_dependencies(values, x)

        tensors = [sparse_tensor.SparseTensor(after(x.indices), after(x.values), after(x.dense_shape))
                   if isinstance(x, sparse_tensor.SparseTensor) else after(x) for x in tensors]
    return tensors if is_sequence else tensors[0]
