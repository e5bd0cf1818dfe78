"""Compares what modes gave, within what rounding may do to a program.

A reference run in double precision is repeated with each statement's values shaken by a few units of rounding: an
element may move as far as it does there. Elements that jump (a comparison, an index, a kink nearby) get no bound that
matters.
"""

import numpy as np

EPSILON = {"float64": 2.0**-52, "float32": 2.0**-23, "half": 2.0**-10, "bfloat16": 2.0**-7}
LARGEST = {"float64": 1e300, "float32": 1e36, "half": 2e4, "bfloat16": 1e36}
SHAKE = 4  # Units of rounding.
# What the shaken runs do not show: kinks that coarse values jump over; rounding of the double precision run itself.
SLACK = {"float64": 4, "float32": 1, "half": 2, "bfloat16": 2}


def bounds(float_type, reference):
    """How far elements of the results may be from each other: a list for each run."""
    exact, spread, _ = reference
    epsilon = EPSILON[float_type]
    out = []
    for run, moved in zip(exact, spread):
        limits = []
        for y, s in zip(run, moved):
            if y.dtype.kind not in "fc" or not y.size:
                limits.append(np.full(y.shape, np.inf if s.any() else 0))
                continue
            size = np.abs(y)
            finite = s[np.isfinite(s)]
            typical = np.median(finite) if finite.size else 0.0
            size = np.where(np.isfinite(size), size, 0)
            limit = 12 * np.maximum(s, typical) + epsilon * (32 * size + 8 * np.median(size) + 0.25)
            limits.append(SLACK[float_type] * limit)
        out.append(limits)
    return out


def wide(x):
    x = np.asarray(x)
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64) if x.dtype.kind not in "biu" else x


def difference(one, other, limits=None, exact_nan=True):
    """None, or words on the first difference beyond the limits (without limits, of any bit but NaN's)."""
    for run, (first, second) in enumerate(zip(one, other)):
        for index, (a, b) in enumerate(zip(first, second)):
            where = f"run {run}, result {index}"
            if a.shape != b.shape:
                return f"{where}: shapes {list(a.shape)} and {list(b.shape)}"
            a, b = wide(a), wide(b)
            with np.errstate(all="ignore"):
                same = (a == b) | ((a != a) & (b != b))
                if limits is not None:
                    limit = limits[run][index]
                    if limit.shape != a.shape:
                        return f"{where}: shapes {list(a.shape)} and the reference's {list(limit.shape)}"
                    if a.dtype.kind in "biu":
                        same |= limit > 0
                    else:
                        same |= np.abs(a - b) <= limit
                        same |= np.isinf(limit)
                if not exact_nan:
                    same |= ~(np.isfinite(a) & np.isfinite(b))
            if not same.all():
                at = tuple(int(i) for i in np.argwhere(~same)[0])
                count = int((~same).sum())
                return f"{where}: {count} of {a.size} elements differ, first at {list(at)}: {a[at]} and {b[at]}" + (
                    f", allowed {limits[run][index][at]:.3g}" if limits is not None else ""
                )
    return None
