import collections
import dataclasses
import gc
import re
import weakref

import pytest

from penstock._src.base import nest

Point = collections.namedtuple("Point", ["x", "y"])


def test_dicts_are_walked_in_the_order_of_their_keys():
    assert nest.flatten({"b": [1, (2, 3)], "a": 4}) == [4, 1, 2, 3]


def test_strings_and_numbers_are_leaves():
    assert nest.flatten("abc") == ["abc"]
    assert not nest.is_sequence("abc") and not nest.is_sequence(b"x") and not nest.is_sequence(1)


def test_packing_gives_the_structure_back():
    structure = {"a": Point(1, [2]), "b": collections.OrderedDict([("z", 3), ("y", 4)])}
    packed = nest.pack_sequence_as(structure, [10, 20, 40, 30])
    assert packed == {"a": Point(10, [20]), "b": {"z": 30, "y": 40}}
    assert list(packed["b"]) == ["z", "y"]


def test_map_structure_checks_that_structures_are_alike():
    assert nest.map_structure(lambda x, y: x + y, [1, (2,)], [3, (4,)]) == [4, (6,)]
    with pytest.raises(ValueError, match="don't have the same nested structure"):
        nest.map_structure(lambda x, y: x, [1, [2]], [1, 2])
    with pytest.raises(TypeError, match="don't have the same sequence type"):
        nest.map_structure(lambda x, y: x, [1], (1,))
    with pytest.raises(TypeError, match="callable"):
        nest.map_structure(3, [1])


def test_flatten_dict_items():
    assert nest.flatten_dict_items({(4, 5, (6, 8)): ("a", "b", ("c", "d"))}) == {4: "a", 5: "b", 6: "c", 8: "d"}
    with pytest.raises(ValueError, match="not unique"):
        nest.flatten_dict_items({(4, 5): ("a", "b"), 4: "c"})
    with pytest.raises(ValueError, match="Key had 2 elements, but value had 3 elements"):
        nest.flatten_dict_items({(4, 5): ("a", "b", "c")})


def test_pack_refuses_a_wrong_number_of_leaves():
    with pytest.raises(ValueError, match="Structure had 2 elements, but flat_sequence had 3"):
        nest.pack_sequence_as([1, 2], [1, 2, 3])


def test_structures_up_to_a_shallow_one():
    assert nest.flatten_up_to([0, 0], [[1, 2], 3]) == [[1, 2], 3]
    assert nest.map_structure_up_to([0, 0], len, [[1, 2], [3]]) == [2, 1]
    with pytest.raises(TypeError, match="input must also be a sequence"):
        nest.flatten_up_to([0], 1)


def test_paths():
    structure = {"a": [1, 2], "b": Point(3, 4)}
    assert nest.flatten_with_joined_string_paths(structure) == [("a/0", 1), ("a/1", 2), ("b/x", 3), ("b/y", 4)]


# The texts are TensorFlow's: programs match them.
@pytest.mark.parametrize("first,second,kind,text", [
    ({"a": 1}, {"c": 1}, ValueError,
     "First structure: type=dict str={'a': 1}\n\nSecond structure: type=dict str={'c': 1}\n\nMore specifically: The "
     "two dictionaries don't have the same set of keys. First structure has keys type=list str=['a'], while second "
     "structure has keys type=list str=['c']\nEntire first structure:\n{'a': .}\nEntire second structure:\n{'c': .}"),
    ([[1, 2], 3], [[1], 3], ValueError,
     "First structure: type=list str=[[1, 2], 3]\n\nSecond structure: type=list str=[[1], 3]\n\nMore specifically: The "
     "two structures don't have the same number of elements. First structure: type=list str=[1, 2]. Second structure: "
     "type=list str=[1]\nEntire first structure:\n[[., .], .]\nEntire second structure:\n[[.], .]"),
    ([1], (1,), TypeError,
     "First structure: type=list str=[1]\n\nSecond structure: type=tuple str=(1,)\n\nMore specifically: The two "
     "namedtuples don't have the same sequence type. First structure type=list str=[1] has type list, while second "
     "structure type=tuple str=(1,) has type tuple\nEntire first structure:\n[.]\nEntire second structure:\n(.,)"),
    ([1, [2]], [1, 2], ValueError,
     "First structure: type=list str=[1, [2]]\n\nSecond structure: type=list str=[1, 2]\n\nMore specifically: "
     'Substructure "type=list str=[2]" is a sequence, while substructure "type=int str=2" is not\n'
     "Entire first structure:\n[., [.]]\nEntire second structure:\n[., .]"),
])
def test_structures_that_differ(first, second, kind, text):
    with pytest.raises(kind) as error:
        nest.assert_same_structure(first, second)
    assert str(error.value) == "The two structures don't have the same nested structure.\n\n" + text


@dataclasses.dataclass
class Masked:
    mask: bool
    value: object

    def __tf_flatten__(self):
        return (self.mask,), (self.value,)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(*metadata, *components)


def test_data_classes_that_name_their_parts():
    masked = Masked(True, [1, 2])
    assert nest.is_nested(masked) and nest.flatten([masked, 3]) == [1, 2, 3]
    assert nest.map_structure(lambda x: x * 2, masked) == Masked(True, [2, 4])
    assert nest.pack_sequence_as(masked, [5, 6]) == Masked(True, [5, 6])
    assert nest.map_structure(lambda x, y: x + y, masked, Masked(False, [1, 1])) == Masked(True, [2, 3])
    assert nest.flatten_up_to(Masked(True, 0), masked) == [[1, 2]]
    with pytest.raises(TypeError):
        nest.assert_same_structure(masked, [1, 2])


def test_an_object_that_stands_for_another_is_what_that_is():
    class Proxy:
        def __init__(self, wrapped):
            self._wrapped = wrapped

        @property
        def __class__(self):
            return type(self._wrapped)

        def __iter__(self):
            return iter(self._wrapped)

    assert not nest.is_nested(Proxy(3))
    assert nest.is_nested(Proxy([1, 2]))  # though one of its type was a leaf
    assert nest.flatten(Proxy([1, 2])) == [1, 2]


def test_types_of_leaves_may_go():
    kind = type("Leaf", (), {})
    assert not nest.is_nested(kind())
    gone, kind = weakref.ref(kind), None
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("structure, flat, error, text", [
    ([1, 2], 5, TypeError, "Attempted to pack value:\n  5\ninto a structure, but found incompatible type `<class"),
    (3, [3, 4], ValueError, "of type `<class 'int'>`\n  3\nHowever the input is a sequence (<class 'list'>) of leng"),
    ([1, 2], [3, 4, 5], ValueError, "Structure had 2 atoms, but flat_sequence had 3 items.  Structure: [1, 2], flat"),
    ([1, 2], {"a": 2, "b": 3}, KeyError, "0")])
def test_what_cannot_be_packed_in_version_two(structure, flat, error, text, version_two):
    with pytest.raises(error, match=re.escape(text)):
        nest.pack_sequence_as(structure, flat)
    assert nest.pack_sequence_as([1, (2,)], {0: "a", 1: "b"}) == ["a", ("b",)]
