"""Calls of ops that are nearly right: the recorded cases with an argument or two changed."""

import copy
import functools
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "oracle"))

import ops_oracle  # noqa: E402
import runner  # noqa: E402
import spec  # noqa: E402

INTS = (0, 1, 2, 3, -1, -2, 5, 100, -100, 2**31 - 1, -(2**31), 2**31, 2**62, -(2**63), 2**63 - 1)
FLOATS = (0.0, 1.0, -1.0, 0.5, 1e30, -1e30, float("nan"), float("inf"), -float("inf"), 2.0, 7.25)


@functools.lru_cache(None)
def cases_of(op):
    """(case, type) of all recorded calls of an op."""
    return [
        (case, dtype)
        for family in ops_oracle.families.NAMES
        for case in ops_oracle.by_op(family).get(op, ())
        for dtype in case.sweep()
        if f"{case.key}/{dtype}" in ops_oracle.answers(family)
    ]


def _shape(chance, shape):
    """Another shape, near the given one."""
    shape = list(shape)
    how = chance.randrange(6)
    if how == 0 or not shape:
        shape.insert(chance.randint(0, len(shape)), chance.choice((0, 1, 2, 3)))
    elif how == 1:
        shape.pop(chance.randrange(len(shape)))
    elif how == 2:
        shape = []
    else:
        shape[chance.randrange(len(shape))] = chance.choice((0, 0, 1, 2, 3, 4, 7, 33))
    return shape


def _value(chance, value):
    how = chance.randrange(4)
    changed = copy.copy(value)
    if how == 0 and value.values is None:
        changed.special, changed.shape = chance.randrange(12), (12,)
    elif how == 1:
        changed.dtype = chance.choice(spec.ALL)
    elif how == 2 and value.values is not None and np.size(value.values) and value.dtype != "string":
        flat = np.array(value.values, float).reshape(-1)
        flat[chance.randrange(flat.size)] = chance.choice(FLOATS[:5])
        changed.values = flat.reshape(np.shape(value.values))
    else:
        changed.values, changed.shape = None, tuple(_shape(chance, value.shape))
    return changed


def _array(chance, array):
    how = chance.randrange(5)
    if how < 3 and array.size and array.dtype.kind in "iu":
        info, flat = np.iinfo(array.dtype), array.reshape(-1).copy()
        flat[chance.randrange(flat.size)] = min(max(chance.choice(INTS), info.min), info.max)
        return flat.reshape(array.shape)
    if how == 3 and array.dtype.kind in "iu":
        return array.astype(chance.choice((np.int32, np.int64, np.float32)))
    return (
        np.resize(array, _shape(chance, array.shape))
        if array.size
        else np.zeros(_shape(chance, array.shape), array.dtype)
    )


def _changed(chance, value):
    if isinstance(value, spec.Ref):
        return type(value)(_value(chance, value.value))
    if isinstance(value, spec.V):
        return _value(chance, value)
    if isinstance(value, np.ndarray):
        return _array(chance, value)
    if isinstance(value, spec.Type):
        return spec.Type(chance.choice(spec.ALL))
    if isinstance(value, (list, tuple)):
        value = list(value)
        how = chance.randrange(4)
        if how == 0 and value:
            value.pop()
        elif how == 1:
            value.append(value[-1] if value else 1)
        elif value:
            at = chance.randrange(len(value))
            value[at] = _changed(chance, value[at])
        return value
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return chance.choice(INTS)
    if isinstance(value, float):
        return chance.choice(FLOATS)
    if isinstance(value, (str, bytes)):
        return chance.choice(("", "abc", "SAME", "VALID", "EXPLICIT", "NHWC", "NCHW", "i,ij->j"))
    return value


def changed_case(chance, op):
    """(case, type) of a recorded call with an argument or two changed."""
    case, dtype = chance.choice(cases_of(op))
    case = copy.copy(case)
    case.args = dict(case.args)
    for _ in range(chance.choice((1, 1, 2))):
        if case.args:
            name = chance.choice(list(case.args))
            case.args[name] = _changed(chance, case.args[name])
    return case, dtype


def run(tf, chance, op):
    """Makes one such call, with its gradient now and then. Its errors are the caller's."""
    case, dtype = changed_case(chance, op)
    build = runner.Build(tf, case, dtype, chance.choice(runner.PLACES))
    wanted = [build.operation] if build.operation is not None else [t.op for t in build.outputs]
    if chance.random() < 0.3 and not build.variables:
        wanted += [t.op for t in build.gradients() if t is not None]
    config = tf.ConfigProto(inter_op_parallelism_threads=1, intra_op_parallelism_threads=2)
    with tf.Session(config=config) as session:
        if build.variables:
            session.run(build.variables)
        session.run(wanted, build.feeds, options=tf.RunOptions(timeout_in_ms=5000))
