"""Calls ops as recorded, but with one of their sizes hostile: python fuzz_sizes.py FIRST STEP [OP...]

Each integer of each argument becomes each of SIZES in turn, all integers of an argument become one of them, and each
dimension of an argument becomes 0. Calls every STEP-th of these variants from FIRST on; without names, those of all ops
with recorded calls. Ends with status 3 if a call crashed, hung, or raised anything but TensorFlow's errors, TypeError
and ValueError."""

import copy
import functools
import sys

import forked
import fuzz_eager
import mutations
import numpy as np
import spec

import penstock as tf
from penstock import _core

SIZES = (0, -1, -(2**31), 2**31 - 1, 2**31, 2**40, 2**62, -(2**63), 2**63 - 1)
_CASES = 4  # of each op, as different from each other as their order makes them
_EAGER_OPS = {"Abort"}  # Ends the process, as it should.


def _of_array(array):
    if array.dtype.kind not in "iu" or not array.size:
        return
    info = np.iinfo(array.dtype)
    for size in sorted({min(max(size, int(info.min)), int(info.max)) for size in SIZES}):
        for at in range(min(array.size, 6)):
            changed = array.copy()
            changed.reshape(-1)[at] = size
            yield changed
        if array.size > 1:
            yield np.full_like(array, size)


def _of_value(value):
    for at in range(len(value.shape)):
        changed = copy.copy(value)
        changed.values, changed.shape = None, (*value.shape[:at], 0, *value.shape[at + 1 :])
        yield changed
    if value.values is not None and np.asarray(value.values).dtype.kind in "iu":
        for array in _of_array(np.array(value.values)):
            changed = copy.copy(value)
            changed.values = array
            yield changed


def changed(value):
    """What an argument becomes, one size after the other."""
    if isinstance(value, spec.Ref):
        yield from (type(value)(one) for one in _of_value(value.value))
    elif isinstance(value, spec.V):
        yield from _of_value(value)
    elif isinstance(value, np.ndarray):
        yield from _of_array(value)
    elif isinstance(value, (list, tuple)):
        for at, one in enumerate(value):
            yield from ([*value[:at], other, *value[at + 1 :]] for other in changed(one))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield from SIZES


@functools.lru_cache(1)
def variants(op):
    """(case, type) of all changed calls of an op."""
    cases = mutations.cases_of(op)
    found = []
    for case, dtype in cases[:: max(1, len(cases) // _CASES)][:_CASES]:
        for name in case.args:
            for value in changed(case.args[name]):
                other = copy.copy(case)
                other.args = {**case.args, name: value}
                found.append((other, dtype))
    return found


def caller(first, step):
    def call(op, number):
        tf.compat.v1.enable_v2_behavior()  # The cases' modules are version 1.
        case, dtype = variants(op)[first + number * step]
        try:
            fuzz_eager._use(fuzz_eager._EagerBuild(tf, case, dtype).outputs)
        except MemoryError:  # Python's copy of a result that fits the address space once only.
            return None
        except fuzz_eager._ALLOWED as error:
            return forked.confused(error)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return None

    return call


def main(first, step, names):
    status = 0
    for op in names or [n for n in _core.op_names() if n not in _EAGER_OPS and mutations.cases_of(n)]:
        count = len(range(first, len(variants(op)), step))
        for line in forked.fuzz(caller(first, step), op, 0, count):
            print(line, flush=True)
            status = 3
    return status


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
