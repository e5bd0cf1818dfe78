"""Structures of elements of datasets: tuples, dicts, namedtuples, attrs and data classes. Lists, which become tensors,
are leaves, and so are values of sparse tensors."""
from penstock._src.graph.sparse_tensor import SparseTensorValue
from penstock._src.base import nest


def is_sequence(structure):
    """Whether it is a structure and not a leaf."""
    return not isinstance(structure, (list, SparseTensorValue)) and (
        isinstance(structure, tuple) or nest._is_mapping(structure) or nest._is_attrs(structure)
        or nest._is_dataclass(structure))


is_nested = is_sequence


def flatten(structure):
    """The leaves as a list; a leaf alone as a list of one."""
    return nest.flatten(structure, is_sequence)


def assert_same_structure(nest1, nest2, check_types=True):
    """ValueError unless both have the same number of parts everywhere; with `check_types`, TypeError unless they are of
    the same kinds."""
    nest.assert_same_structure(nest1, nest2, check_types, is_sequence)


def pack_sequence_as(structure, flat_sequence):
    """A structure like `structure` with the leaves of `flat_sequence`. ValueError if their numbers differ."""
    if not is_sequence(flat_sequence) and not isinstance(flat_sequence, list):
        raise TypeError("flat_sequence must be a sequence")
    return nest.pack_sequence_as(structure, tuple(flat_sequence), is_sequence)


def map_structure(func, *structure, **kwargs):
    """A structure like the first one with what `func` makes of the leaves of all, which must be alike."""
    if set(kwargs) - {"check_types"}:
        raise ValueError("Only valid keyword argument is check_types")
    return nest.map_structure(func, *structure, expand_composites=is_sequence, **kwargs)


def assert_shallow_structure(shallow_tree, input_tree, check_types=True):
    """TypeError, ValueError unless `input_tree` has at least the structure of `shallow_tree`."""
    nest.assert_shallow_structure(shallow_tree, input_tree, check_types, is_sequence)


def flatten_up_to(shallow_tree, input_tree, check_types=True):
    """The parts of `input_tree` that stand where `shallow_tree` has leaves."""
    return nest.flatten_up_to(shallow_tree, input_tree, check_types, is_sequence)


def map_structure_up_to(shallow_tree, func, *inputs, **kwargs):
    """map_structure over the parts that stand where `shallow_tree` has leaves."""
    return nest.map_structure_up_to(shallow_tree, func, *inputs, expand_composites=is_sequence, **kwargs)
