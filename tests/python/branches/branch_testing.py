"""Tests of the implementations among which a kernel, a pass or a short cut chooses (src/penstock/base/branches.h).

    @branches("gemm", "gemm/layout")
    def test_products(case):
        m, n, k = case.random.integers(1, 40, 3)
        a, b = case.floats(m, k), case.floats(k, n)
        case.check(tf.matmul(a, b), a @ b, f"{m} x {k} x {n}")

Such a test compares random cases with a plain reference and fails where a branch of the named tables was never entered
("table:branch" names one branch). Bodies run in a process of their own, in which the memory around each tensor is
guarded (tensor/guarded_allocator.h), one for each file and environment of ENVIRONMENTS. What a body checks is the same
with one thread and with two, bit for bit. Counts and seed of a test are printed, and shown with -s or where it fails.
PENSTOCK_SEED in the environment changes the random numbers.
"""
import atexit
import functools
import hashlib
import importlib.util
import inspect
import json
import os
import subprocess
import sys
import tempfile
import traceback
import zlib
from pathlib import Path

import numpy as np
import pytest

ENVIRONMENTS = {
    "two_threads": {"TF_NUM_INTRAOP_THREADS": "2"},
    "one_thread": {"TF_NUM_INTRAOP_THREADS": "1"},
    "avx2": {"TF_NUM_INTRAOP_THREADS": "2", "PENSTOCK_ISA": "avx2"},
    "baseline": {"TF_NUM_INTRAOP_THREADS": "2", "PENSTOCK_ISA": "baseline"},
}
SLOW = {"avx2"}  # ./dev test --all runs them


class Case:
    """What the body of a test gets: random numbers, and the comparison."""

    def __init__(self, name):
        self.seed = int(os.environ.get("PENSTOCK_SEED", zlib.crc32(name.encode())))
        self.random = np.random.default_rng(self.seed)
        self.bits = hashlib.sha256()

    def floats(self, *shape, dtype=np.float32):
        """Normal numbers, complex ones too."""
        values = self.random.standard_normal(shape)
        if np.dtype(dtype).kind == "c":
            values = values + 1j * self.random.standard_normal(shape)
        return values.astype(dtype)

    def pick(self, values):
        return values[self.random.integers(len(values))]

    def check(self, actual, expected, what, rtol=1e-5, atol=1e-5):
        """That `actual`, a tensor or array, has the shape of `expected` and its values, up to rounding if numbers."""
        actual, expected = np.asarray(actual), np.asarray(expected)
        self.bits.update(repr(actual.tolist()).encode() if actual.dtype == object else actual.tobytes())
        assert actual.shape == expected.shape, f"{what}: shape {actual.shape}, expected {expected.shape}"
        if actual.dtype.kind in "fcV" and (rtol or atol):  # V: bfloat16
            kind = np.complex128 if expected.dtype.kind == "c" else np.float64
            np.testing.assert_allclose(actual.astype(kind), expected.astype(kind), rtol, atol, err_msg=what)
        else:
            np.testing.assert_array_equal(actual, expected, err_msg=what)


def branches(*tables):
    """Decorates the body of a test that enters each branch of these tables."""
    def decorate(body):
        file, name = inspect.getfile(body), body.__name__

        @pytest.mark.parametrize(
            "environment", [pytest.param(e, marks=pytest.mark.slow) if e in SLOW else e for e in ENVIRONMENTS])
        def test(environment):
            found = _run(file, name, environment)
            print(f"{name} [{environment}] seed {found['seed']}: {json.dumps(found['counts'])}")
            assert not found["error"], found["error"]
            if environment == "one_thread":
                bits = _run(file, name, "two_threads")["bits"]
                assert found["bits"] == bits, "the number of threads shows in results"

        test.__name__, test.__doc__, test.body, test.tables = name, body.__doc__, body, tables
        return test
    return decorate


class _Process:
    """A process that runs the bodies of a file, one for each line with a name that it reads."""

    def __init__(self, file, environment):
        self.errors = tempfile.TemporaryFile("w+")
        start = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n" \
                f"import branch_testing; branch_testing.serve({file!r})"
        self.process = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", "-c", start], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self.errors,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PENSTOCK_GUARD_MEMORY": "1", **environment})
        atexit.register(self.process.kill)

    def run(self, name):
        try:
            print(name, file=self.process.stdin, flush=True)
        except BrokenPipeError:
            pass
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        self.errors.seek(0)
        return {"error": f"the process ended with {self.process.wait()}:\n{self.errors.read()[-4000:]}",
                "counts": {}, "seed": None, "bits": None}


_processes = functools.cache(lambda file, environment: [_Process(file, ENVIRONMENTS[environment])])


@functools.cache
def _run(file, name, environment):
    holder = _processes(file, environment)
    if holder[0].process.poll() is not None:  # a body before this one ended it
        holder[0] = _Process(file, ENVIRONMENTS[environment])
    return holder[0].run(name)


def _missing(tables, counts):
    """Those of "table" and "table:branch" that have branches which were not entered."""
    for wanted in tables:
        table, _, branch = wanted.partition(":")
        rows = counts.get(table, {})
        for row in [branch] if branch else rows or ["any branch"]:
            if not rows.get(row):
                yield f"{table}:{row}"


def serve(file):
    """What the process of a file does."""
    answers, sys.stdout = sys.stdout, sys.stderr
    import penstock.v2  # noqa: F401  first, so that bodies run eagerly
    spec = importlib.util.spec_from_file_location("bodies", file)
    bodies = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bodies)
    from penstock import _core
    _core.count_branches(True)
    for line in sys.stdin:
        test, error = getattr(bodies, line.strip()), None
        case = Case(line.strip())
        _core.reset_branches()
        try:
            test.body(case)
        except Exception:
            error = traceback.format_exc()
        counts = {table: rows for table, rows in _core.branch_counts().items() if any(rows.values())}
        if not error and (missing := list(_missing(test.tables, counts))):
            error = f"never entered: {', '.join(missing)}"
        print(json.dumps({"error": error, "counts": counts, "seed": case.seed, "bits": case.bits.hexdigest()}),
              file=answers, flush=True)
