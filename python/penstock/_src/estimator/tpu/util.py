"""Checks of arguments."""
import collections
import re

IterationsPerLoopCounter = collections.namedtuple("IterationsPerLoopCounter", ["value", "unit"])

_SECONDS = {"s": 1, "m": 60, "h": 60 * 60}


def check_positive_integer(value, name):
    """TypeError, ValueError unless it is a positive integer."""
    if not isinstance(value, int):
        raise TypeError("{} must be int, got {}".format(name, type(value)))
    if value <= 0:
        raise ValueError("{} must be positive, got {}".format(name, value))


def parse_iterations_per_loop(iterations_per_loop):
    """A number of steps, or a time such as "30s", "5m", "1h"."""
    match = re.fullmatch(r"(\d+)([smh])?", str(iterations_per_loop))
    value = int(match.group(1)) if match else 0
    if not match or isinstance(iterations_per_loop, str) != bool(match.group(2)):
        raise ValueError("Invalid TPUConfig `iterations_per_loop` value. Value must be positive number of seconds, "
                         "minutes or hours, or of steps; got {}".format(iterations_per_loop))
    if value <= 0:
        raise ValueError("TPUConfig `iterations_per_loop` must be positive, got {}".format(iterations_per_loop))
    if match.group(2):
        return IterationsPerLoopCounter(value * _SECONDS[match.group(2)], "seconds")
    return IterationsPerLoopCounter(value, "count")
