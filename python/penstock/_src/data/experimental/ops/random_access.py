"""tf.data.experimental.at: one element by its place."""
from penstock._src.data.util import structure
from penstock._src.graph import gen


def at(dataset, index):
    """The element at a place, without those before it. `cache()` in memory makes any dataset fit for it.

    When it runs: OutOfRangeError: there are fewer. FailedPreconditionError: how many there are is not known, or they
    are without end. UnimplementedError: a transformation has elements one after the other only, `filter` say.
    """
    return structure.from_compatible_tensor_list(dataset.element_spec, gen.get_element_at_index(
        dataset._variant_tensor, index, **dataset._flat_structure))
