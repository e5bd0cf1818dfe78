"""Kullback-Leibler divergences, by the classes of the two distributions."""
import inspect

from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.core_ops import math_ops

__all__ = ["RegisterKL", "cross_entropy", "kl_divergence"]

_DIVERGENCES = {}


class RegisterKL:
    """Decorator: registers fn(a, b, name) as the divergence of distributions of these classes and their children.

    ValueError if that pair has one, TypeError if what is decorated cannot be called.
    """

    def __init__(self, dist_cls_a, dist_cls_b):
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn):
        if not callable(kl_fn):
            raise TypeError("kl_fn must be callable, received: %s" % kl_fn)
        if self._key in _DIVERGENCES:
            raise ValueError("KL(%s || %s) has already been registered to: %s" %
                             (self._key[0].__name__, self._key[1].__name__, _DIVERGENCES[self._key]))
        _DIVERGENCES[self._key] = kl_fn
        return kl_fn


def _registered_kl(type_a, type_b):
    """The divergence of the nearest registered parents of both classes, or None."""
    found = [(up_a + up_b, up_a, _DIVERGENCES[a, b])
             for up_a, a in enumerate(inspect.getmro(type_a)) for up_b, b in enumerate(inspect.getmro(type_b))
             if (a, b) in _DIVERGENCES]
    return min(found, key=lambda row: row[:2])[2] if found else None


def kl_divergence(distribution_a, distribution_b, allow_nan_stats=True, name=None):
    """KL(a || b), one number for each pair of the batch; NotImplementedError if none is registered for the classes.

    Without `allow_nan_stats` a result of NaN is an InvalidArgumentError.
    """
    kl_fn = _registered_kl(type(distribution_a), type(distribution_b))
    if kl_fn is None:
        raise NotImplementedError(
            "No KL(distribution_a || distribution_b) registered for distribution_a type %s and distribution_b type %s" %
            (type(distribution_a).__name__, type(distribution_b).__name__))
    with ops.name_scope("KullbackLeibler"):
        kl = kl_fn(distribution_a, distribution_b, name=name)
        if allow_nan_stats:
            return kl
        kl = array_ops.identity(kl, name="kl")
        with ops.control_dependencies([control_flow_ops.Assert(
                gen.logical_not(math_ops.reduce_any(gen.is_nan(kl))),
                ["KL calculation between %s and %s returned NaN values (and was called with allow_nan_stats=False). "
                 "Values:" % (distribution_a.name, distribution_b.name), kl])]):
            return array_ops.identity(kl, name="checked_kl")


def cross_entropy(ref, other, allow_nan_stats=True, name=None):
    """The cross entropy of `other` under `ref`: the entropy of `ref` and their divergence."""
    with ops.name_scope(name, "cross_entropy"):
        return ref.entropy() + kl_divergence(ref, other, allow_nan_stats=allow_nan_stats)
