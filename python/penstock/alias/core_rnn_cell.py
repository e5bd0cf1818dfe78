"""The module of cells that older programs import from the inside, with the affine map that was private to it."""
import importlib

from penstock._src.contrib.rnn.linear import Linear as _Linear


def _linear(args, output_size, bias, bias_initializer=None, kernel_initializer=None):
    if args is None or isinstance(args, (list, tuple)) and not args:
        raise ValueError("`args` must be specified")
    return _Linear(args, output_size, bias, bias_initializer, kernel_initializer)(args)


def __getattr__(name):
    return getattr(importlib.import_module("penstock.v1").contrib.rnn, name)
