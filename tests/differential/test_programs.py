"""Random programs in all modes: 200, and 2,000 under ./dev test --all; and what makes, compares and shrinks them."""

import copy
import os

import numpy as np
import pytest

from differential import compare, minimise
from differential.engines import Engines
from differential.families import FAMILIES
from differential.generate import generate
from differential.run import Comparison, Failure

CHUNK = 10


@pytest.fixture(scope="module")
def comparison():
    engines = Engines(os.environ.get("PENSTOCK_TENSORFLOW_PYTHON"))
    yield Comparison(engines)
    engines.close()


@pytest.mark.parametrize(
    "first", [pytest.param(first, marks=[pytest.mark.slow] if first >= 200 else []) for first in range(0, 2000, CHUNK)]
)
def test_modes_agree(comparison, first):
    print(f"seeds {first} to {first + CHUNK - 1}")
    for seed in range(first, first + CHUNK):
        failure = comparison.check(generate(seed))
        if failure:
            print(failure, flush=True)  # Minimising may end by the test's timeout.
            smaller = minimise.minimise(failure, comparison, most=60)
            pytest.fail(f"{failure}\n{minimise.script(smaller, comparison)}", pytrace=False)


# Equal elements that are rounded in the same direction; sums of thousands of them; NaN that only graphs spread to
# gradients of zero; products in the order of each version; a rotation without gradient.
@pytest.mark.parametrize("seed", [425, 624, 1284, 1293, 1412, 1685, 1821, 1847])
def test_bounds_allow_for_what_each_mode_may_do(comparison, seed):
    assert comparison.check(generate(seed)) is None


def test_programs_have_all_kinds_of_statements():
    kinds = set()
    for seed in range(200):
        kinds |= set(generate(seed).kinds)
    assert kinds == set(FAMILIES)


def test_programs_are_the_same_for_a_seed():
    assert generate(7).source() == generate(7).source()
    (one,), (other,) = generate(7).data()[0][:1], generate(7).data()[0][:1]
    for name in one:
        np.testing.assert_array_equal(one[name], other[name])


def test_a_difference_beyond_the_bounds_is_found():
    exact = [[np.array([1.0, np.nan, 3.0])]]
    limits = compare.bounds("float32", [exact, [[np.zeros(3)]], 3.0])
    assert compare.difference(exact, [[np.array([1.0 + 1e-7, np.nan, 3.0])]], limits) is None
    assert "first at [2]" in compare.difference(exact, [[np.array([1.0, np.nan, 3.0 + 1e-4])]], limits)
    assert "first at [1]" in compare.difference(exact, [[np.array([1.0, 2.0, 3.0])]], limits)
    assert "shapes" in compare.difference(exact, [[np.zeros(2)]], limits)


class FailsWhereTanhIs:
    """Stands for the comparison of a runtime whose tanh is wrong."""

    def check(self, program, only=None):
        return (
            Failure(program, ("eager", "function"), "run 0, result 0: differ")
            if "tf.tanh(" in program.source()
            else None
        )


def test_a_failure_is_made_small():
    programs = map(minimise.prune, map(generate, range(100)))
    program = next(p for p in programs if "tf.tanh(" in p.source() and len(p.source()) > 1500)
    comparison = FailsWhereTanhIs()
    smaller = minimise.minimise(comparison.check(copy.deepcopy(program)), comparison)
    assert "tf.tanh(" in smaller.program.source() and len(smaller.program.source()) < len(program.source()) / 4
