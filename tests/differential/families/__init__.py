"""The kinds of statements. A family's function adds one statement to a generator's program, or returns None where
no value fits."""

import dataclasses
from typing import Callable


@dataclasses.dataclass(frozen=True)
class Family:
    make: Callable
    weight: float
    leaf: bool  # Has no functions inside of it.


FAMILIES = {}


def family(weight, leaf=True):
    def register(make):
        FAMILIES[make.__name__] = Family(make, weight, leaf)
        return make

    return register


from . import algebra, arrays, control, elementwise, gradients, images, indices, losses  # noqa: E402, F401
from . import movement, products, reductions, state, windows  # noqa: E402, F401
