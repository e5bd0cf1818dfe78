"""Data classes with `__tf_flatten__` go through tf.function."""
import dataclasses

import pytest

import penstock as tf
from penstock._src.graph import context


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


@dataclasses.dataclass
class Masked:
    mask: bool
    value: object

    def __tf_flatten__(self):
        return (self.mask,), (self.value,)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(*metadata, *components)


def test_a_function_takes_and_gives_them():
    function = tf.function(lambda m: Masked(not m.mask, m.value * (2 if m.mask else 3)))
    for mask, value, want in ((True, 5, 10), (False, 5, 15), (True, 7, 14)):
        result = function(Masked(mask, tf.constant(value)))
        assert result.mask is not mask and int(result.value) == want
    assert function.experimental_get_tracing_count() == 2
