"""Strategies that say which parameter server an op goes to."""
import hashlib

import numpy as np

from penstock._src.graph import tensor_shape


class RandomStrategy:
    """A server by the hash of the op's name: always the same one."""

    def __init__(self, num_ps_tasks, seed=0):
        self._num_tasks = num_ps_tasks
        self._seed = seed

    def __call__(self, op):
        digest = hashlib.md5(("%s_%d" % (op.name, self._seed)).encode("utf-8")).hexdigest()
        return int(digest, 16) % self._num_tasks


class GreedyLoadBalancingStrategy:
    """The server with the least load so far, where `load_fn` says what an op weighs."""

    def __init__(self, num_tasks, load_fn):
        self._loads = np.zeros(num_tasks)
        self._load_fn = load_fn

    def __call__(self, op):
        task = np.argmin(self._loads)
        self._loads[task] += self._load_fn(op)
        return task


def byte_size_load_fn(op):
    """The bytes of an op's output. ValueError unless it has one, of a known shape."""
    if len(op.outputs) != 1:
        raise ValueError("Op %s must have a single output" % op)
    output = op.outputs[0]
    shape = output.get_shape()
    if not shape.is_fully_defined():
        shape = tensor_shape.TensorShape(op.get_attr("shape"))
    shape.assert_is_fully_defined()
    return shape.num_elements() * output.dtype.size
