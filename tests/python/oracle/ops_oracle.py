"""Compares the calls described in tests/oracle/ops on Penstock with what real TensorFlow answered."""

import functools
import random
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "oracle" / "ops"))

import families  # noqa: E402
import runner  # noqa: E402
import spec  # noqa: E402,F401
import store  # noqa: E402

import penstock.v1 as tf  # noqa: E402
from penstock import _core  # noqa: E402

# (relative, absolute) error that is allowed in results of each type.
_TOLERANCE = {
    "half": (4e-3, 2e-3),
    "bfloat16": (3e-2, 2e-2),
    "float32": (2e-5, 2e-6),
    "float64": (1e-9, 1e-11),
    "complex64": (3e-5, 3e-6),
    "complex128": (1e-9, 1e-11),
}


@functools.lru_cache(None)
def answers(family):
    return store.read(family)


@functools.lru_cache(None)
def by_op(family):
    found = {}
    for case in families.cases(family):
        found.setdefault(case.op, []).append(case)
    return found


def check_op(family, op, most=None):
    """The differences of all answers for one op, or of `most` of them, as lines of text; None if it has no kernel."""
    if not _core.op_def(op).has_kernel:
        return None
    asked = [
        (case, dtype, answers(family).get(f"{case.key}/{dtype}"))
        for case in by_op(family)[op]
        for dtype in case.sweep()
    ]
    asked = [one for one in asked if one[2] is not None]
    if most is not None and len(asked) > most:
        asked = random.Random(op).sample(asked, most)
    return [f"{case.text()} {dtype}: {line}" for case, dtype, wanted in asked for line in check(case, dtype, wanted)]


def check(case, dtype, wanted):
    if case.error is not None:
        return list(_check_error(case, dtype, wanted))
    got = runner.evaluate(tf, case, dtype)
    if "error" in wanted:
        if "error" not in got:
            return [f"no error, TensorFlow has {wanted['error'][0]}"]
        return (
            []
            if _same_class(got["error"][0], wanted["error"][0])
            else [f"{got['error']} instead of {wanted['error'][0]}"]
        )
    if "error" in got:
        return [f"fails: {got['error'][0]}: {got['error'][1][:300]}"]
    lines = []
    tolerance = _tolerance(case, dtype)
    for part in ("values", "state", "grads"):
        if part in wanted and part in got:
            lines += _compare(part, got[part], wanted[part], tolerance)
        elif part in wanted and wanted[part]:
            lines.append(f"no {part}: {got.get('grads_error')}"[:300])
    # Where TensorFlow's gradient fails rather than being absent, a gradient is welcome.
    if (
        wanted.get("grads_error") == "LookupError"
        and "grads_error" not in got
        and any(g is not None for g in got.get("grads", ()))
    ):
        lines.append(f"has a gradient, TensorFlow has {wanted['grads_error']}")
    if "shapes" in wanted:
        shapes = runner.shapes(tf, case, dtype)
        for place, shape in wanted["shapes"].items():
            if not _at_least(shapes[place], shape):
                lines.append(f"inferred shapes, {place}: {shapes[place]} instead of {shape}")
    return lines


def _at_least(got, wanted):
    """Whether shapes know what TensorFlow knows; more is welcome (the values agree with it, or running fails)."""
    if isinstance(wanted, str) or isinstance(got, str):
        return isinstance(wanted, str) and isinstance(got, str)
    return len(got) == len(wanted) and all(
        w is None or g is not None and len(g) == len(w) and all(y is None or x == y for x, y in zip(g, w))
        for g, w in zip(got, wanted)
    )


def _check_error(case, dtype, wanted):
    for where, got in (
        ("error", runner.evaluate(tf, case, dtype).get("error")),
        ("fed", runner.fed_error(tf, case, dtype)),
    ):
        if wanted[where] is None:
            continue
        if got is None:
            yield f"{where}: no error, TensorFlow has {wanted[where][0]}"
        elif not _same_class(got[0], wanted[where][0]):
            yield f"{where}: {got[0]}: {got[1][:200]} instead of {wanted[where][0]}"
        elif wanted[where][1] not in got[1]:
            yield f"{where}: {got[1][:200]!r} without {wanted[where][1]!r}"


def _same_class(got, wanted):
    return (
        got == wanted
        or {got, wanted} <= {"TypeError", "ValueError", "InvalidArgumentError"}
        and got != "InvalidArgumentError"
    )


def _tolerance(case, dtype):
    relative, absolute = _TOLERANCE.get(dtype, _TOLERANCE["float32"])
    if case.tolerance:
        relative, absolute = max(relative, case.tolerance), max(absolute, case.tolerance)
    return (relative * case.rough, absolute * case.rough) if dtype in ("half", "bfloat16") else (relative, absolute)


def _compare(part, got, wanted, tolerance):
    if len(got) != len(wanted):
        yield f"{part}: {len(got)} instead of {len(wanted)}"
        return
    for i, (a, b) in enumerate(zip(got, wanted)):
        if (a is None) != (b is None):
            yield f"{part}[{i}]: {a} instead of {b}"
        elif a is None:
            continue
        elif a.shape != b.shape:
            yield f"{part}[{i}]: shape {a.shape} instead of {b.shape}"
        elif a.dtype != b.dtype:
            yield f"{part}[{i}]: {a.dtype} instead of {b.dtype}"
        elif not _equal(a, b, tolerance):
            yield f"{part}[{i}]: {np.array2string(a.ravel()[:12])} instead of {np.array2string(b.ravel()[:12])}"


def _equal(a, b, tolerance):
    if a.dtype == object or a.dtype.kind in "biuSV":
        return a.tolist() == b.tolist()
    with np.errstate(all="ignore"):
        wide = np.complex128 if a.dtype.kind == "c" else np.float64
        return np.allclose(a.astype(wide), b.astype(wide), tolerance[0], tolerance[1], equal_nan=True)
