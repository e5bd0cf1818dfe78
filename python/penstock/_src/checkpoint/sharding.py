"""How a checkpoint's tensors are spread over files: CheckpointOptions.experimental_sharding_callback."""
import abc
import dataclasses
import math

import numpy as np

from penstock._src.graph import device as device_lib
from penstock._src.graph import ops
from penstock._src.base import tf_logging as logging
from penstock._src.ops.state import base


@dataclasses.dataclass(frozen=True)
class ShardableTensor:
    """A tensor that is to be written. checkpoint_key: its name in the checkpoint; slice_spec: which part of that it is,
    "" for all; trackable: the object that it is of, if known."""

    _tensor_save_spec: object
    tensor: object
    dtype: object
    device: object
    name: str
    shape: object
    slice_spec: str
    checkpoint_key: str
    trackable: object

    def __hash__(self):
        return hash((self.name, self.dtype, str(self.device), self.checkpoint_key))


class ShardingCallback(abc.ABC):
    """To be subclassed: called with the ShardableTensors of a task, it gives a list of shards, each written to a file
    of its own: {checkpoint_key: {slice_spec: tensor}}. No tensor may be missing, or have another shape or type."""

    @property
    @abc.abstractmethod
    def description(self):
        """What it does, for error messages."""

    @abc.abstractmethod
    def __call__(self, shardable_tensors):
        """The shards."""


class ShardByTaskPolicy(ShardingCallback):
    """All tensors of a task in one file: what is done without a callback."""

    @property
    def description(self):
        """What it does."""
        return "Split tensors into shards based on their device spec task."

    def __call__(self, shardable_tensors):
        shard = {}
        for tensor in shardable_tensors:
            shard.setdefault(tensor.checkpoint_key, {})[tensor.slice_spec] = tensor.tensor
        return [shard]


class MaxShardSizePolicy(ShardingCallback):
    """Files of at most `max_shard_size` bytes of values; a larger tensor is cut into slices. A scalar, or the least
    slice of a tensor, that is larger has a file of its own."""

    class MaxShardSizePartitioner:
        """Fills one shard after the other."""

        def get_shards(self, max_shard_size, shardable_tensors):
            """The shards of a list of ShardableTensors."""
            self.max_shard_size = self._left = max_shard_size
            self._shards, self._oversized = [{}], []
            for tensor in shardable_tensors:
                self._add(tensor)
            return [shard for shard in self._shards if shard] + self._oversized

        def _new_shard(self):
            self._shards.append({})
            self._left = self.max_shard_size

        def _put(self, key, spec, tensor, size):
            """Into the current shard, a new one, or one that is too large."""
            if size > self.max_shard_size:
                logging.warning("Tensor %s %s of %s bytes cannot be cut into shards of %s bytes: it gets one of its "
                                "own.", key, spec, size, self.max_shard_size)
                self._oversized.append({key: {spec: tensor}})
                return
            if size > self._left:
                self._new_shard()
            self._shards[-1].setdefault(key, {})[spec] = tensor
            self._left -= size

        def _add(self, tensor):
            key, value = tensor.checkpoint_key, tensor.tensor
            size = 0 if key == base.OBJECT_GRAPH_PROTO_KEY else _bytes_of(value)  # that is not known while saving
            if not value.shape.ndims or size <= self._left:
                self._put(key, tensor.slice_spec, value, size)
                return
            info = _slice_info(tensor)
            shape = value.shape.as_list()
            item = -(-size // max(1, math.prod(shape)))
            offset = [0] * len(shape)  # of what is left
            while True:
                rest = [n - o for n, o in zip(shape, offset)]
                if math.prod(rest) * item <= self._left:
                    self._put(key, info(offset, rest), _cut(value, offset, rest), math.prod(rest) * item)
                    return
                axis, length = self._largest_part(rest, item)
                if length == 0 and self._left < self.max_shard_size:
                    self._new_shard()
                    continue
                part = rest[:axis] + [max(1, length)] + rest[axis + 1:]
                self._put(key, info(offset, part), _cut(value, offset, part), math.prod(part) * item)
                offset[axis] += part[axis]
                if offset[axis] == shape[axis]:
                    return

        def _largest_part(self, shape, item):
            """(axis, length) of the cut into the fewest parts that fit what is left of the shard; 0 if none does."""
            best = (math.inf, 0, 0)
            for axis, length in enumerate(shape):
                fitting = self._left // (math.prod(shape) // length * item)
                if fitting:
                    parts = -(-length // fitting)
                    best = min(best, (parts, axis, -(-length // parts)))
            return best[1:]

    def __init__(self, max_shard_size):
        self.max_shard_size = max_shard_size

    @property
    def description(self):
        """What it does."""
        return "Split tensors into shards with a max shard size."

    def __call__(self, shardable_tensors):
        return self.MaxShardSizePartitioner().get_shards(self.max_shard_size, shardable_tensors)


def _bytes_of(value):
    """How many bytes a tensor has; those of strings are known of eager tensors only."""
    if value.dtype.size:
        return value.dtype.size * (value.shape.num_elements() or 0)
    if hasattr(value, "numpy"):
        return sum(len(text) for text in np.ravel(value.numpy()))
    return 0


def _cut(value, offset, shape):
    from penstock._src.core_ops import array_ops
    return array_ops.slice(value, offset, shape)


def _slice_info(tensor):
    """A function from offset and shape of a part of the tensor to its slice_spec in the whole variable."""
    *full, part = tensor.slice_spec.split() if tensor.slice_spec else [*map(str, tensor.shape.as_list()), None]
    before = [int(extent.split(",")[0]) for extent in part.split(":")] if part else [0] * len(full)

    def spec(offset, shape):
        extents = (f"{b + o},{n}" for b, o, n in zip(before, offset, shape))
        return " ".join([*full, ":".join(extents)])
    return spec


def shards_of(callback, specs):
    """The shards that a callback makes of a list of (SaveSpec, tensor), one task's tensors at a time. RuntimeError if
    it loses, invents or changes a tensor."""
    tasks = {}
    for spec, tensor in specs:
        device = device_lib.DeviceSpec.from_string(spec.device or "") if isinstance(spec.device, str) else spec.device
        task = device.task if device is not None else None
        tasks.setdefault(task or 0, []).append(ShardableTensor(
            spec, tensor, tensor.dtype, device, spec.name, tensor.shape, spec.slice_spec.strip(), spec.name, None))
    shards = []
    for _, tensors in sorted(tasks.items()):
        with ops.device("cpu:0"):
            made = callback(tensors)
        if not isinstance(callback, MaxShardSizePolicy):
            _validate(made, tensors, getattr(callback, "description", callback))
        shards += [shard for shard in made if shard]
    return shards


def _validate(shards, tensors, description):
    wanted = {(t.checkpoint_key, t.slice_spec): t.tensor for t in tensors}
    seen = set()

    def refuse(what, key):
        raise RuntimeError(f"After executing the checkpoint sharding callback, {what}:\n  callback_description: "
                           f"{description}\n  checkpoint_key: {key[0]}\n  slice_spec: {key[1]}\n")
    for shard in shards:
        for name, slices in shard.items():
            for spec, tensor in slices.items():
                key = (name, spec.strip())
                if key in seen:
                    refuse("multiple tensors with the same checkpoint key and slice spec were found", key)
                if key not in wanted:
                    refuse("a tensor not originally in the object graph was found in the checkpoint shards", key)
                if tensor.shape.as_list() != wanted[key].shape.as_list():
                    refuse("a tensor was found with an altered shape", key)
                if tensor.dtype != wanted[key].dtype:
                    refuse("a tensor was found with an altered dtype", key)
                seen.add(key)
    for key in wanted.keys() - seen:
        refuse("tensors in the object graph were not found in the checkpoint shards", key)
