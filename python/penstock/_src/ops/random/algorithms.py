"""The algorithms that make random numbers, by name and number."""
import enum


class Algorithm(enum.Enum):
    """What makes the numbers."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


_NAMES = {"philox": Algorithm.PHILOX.value, "threefry": Algorithm.THREEFRY.value,
          "auto_select": Algorithm.AUTO_SELECT.value}


def convert_alg_to_int(alg):
    """The number of an algorithm given as number, name, Algorithm or tensor."""
    if isinstance(alg, Algorithm):
        return alg.value
    if isinstance(alg, str):
        if alg not in _NAMES:
            raise ValueError("Argument `alg` got unsupported string value %s. Supported string values are %s." %
                             (alg, sorted(_NAMES)))
        return _NAMES[alg]
    return alg
