"""tf.compat.forward_compatible: whether a program may build what readers of an older TensorFlow do not know yet."""
import contextlib
import datetime
import os

_HORIZON = {1: datetime.date(2019, 8, 21), 2: datetime.date(2026, 1, 16)}  # of 1.15.5 and of 2.21
_DELTA_DAYS = "TF_FORWARD_COMPATIBILITY_DELTA_DAYS"
_override = None


def forward_compatible(year, month, day):
    """Whether the horizon lies behind a date: three weeks after it, what was new then may be used.

    The environment variable TF_FORWARD_COMPATIBILITY_DELTA_DAYS moves the horizon.
    """
    from penstock._src.base import tf2
    horizon = _override
    if horizon is None:
        horizon = _HORIZON[2 if tf2.enabled() else 1] + datetime.timedelta(days=int(os.getenv(_DELTA_DAYS) or 0))
    return (horizon.year, horizon.month, horizon.day) > (year, month, day)


@contextlib.contextmanager
def forward_compatibility_horizon(year, month, day):
    """Context manager that sets the horizon, for tests."""
    global _override
    before, _override = _override, datetime.date(year, month, day)
    try:
        yield
    finally:
        _override = before
