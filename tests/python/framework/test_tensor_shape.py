import pytest

from penstock._src.graph import tensor_shape
from penstock._src.graph.tensor_shape import Dimension, TensorShape


def test_arithmetic_with_the_unknown_is_unknown():
    assert (Dimension(3) + 4).value == 7 and (12 - Dimension(5)).value == 7 and (Dimension(7) // 2).value == 3
    assert (Dimension(None) * 3).value is None and (Dimension(3) < Dimension(None)) is None
    with pytest.raises(TypeError, match="use // instead"):
        Dimension(6) / 2
    with pytest.raises(ValueError, match=">= 0"):
        Dimension(-1)
    with pytest.raises(ValueError, match="Ambiguous"):
        Dimension(1.5)


def test_texts_are_version_1s():
    assert str(TensorShape([None])) == "(?,)" and str(TensorShape([2, None])) == "(2, ?)"
    assert str(TensorShape(None)) == "<unknown>" and str(TensorShape([])) == "()"
    assert repr(TensorShape([2, None])) == "TensorShape([Dimension(2), Dimension(None)])"


def test_equality():
    assert TensorShape([1, 2]) == [1, 2] and TensorShape([1, 2]) != [1, 3]
    assert not TensorShape([None]) == TensorShape([None])
    assert TensorShape(None) == TensorShape(None)
    with pytest.raises(ValueError, match="inequality of unknown"):
        TensorShape(None) != TensorShape([1])  # noqa: B015


def test_merging():
    assert TensorShape([3, None]).merge_with([None, 4]).as_list() == [3, 4]
    assert TensorShape(None).merge_with([1]).as_list() == [1]
    with pytest.raises(ValueError, match=r"Shapes \(3, 4\) and \(3, 5\) are not compatible"):
        TensorShape([3, 4]).merge_with([3, 5])


def test_ranks():
    assert TensorShape(None).with_rank(2).as_list() == [None, None]
    with pytest.raises(ValueError, match="must have rank 3"):
        TensorShape([1, 2]).with_rank(3)
    with pytest.raises(ValueError, match="must have rank at least 3"):
        TensorShape([1, 2]).with_rank_at_least(3)
    with pytest.raises(ValueError, match="must have rank at most 1"):
        TensorShape([1, 2]).with_rank_at_most(1)


def test_slices():
    assert TensorShape([1, 2, 3])[1:].as_list() == [2, 3]
    assert TensorShape(None)[2:5].as_list() == [None] * 3 and TensorShape(None)[1:].rank is None
    with pytest.raises(ValueError, match="Steps"):
        TensorShape(None)[0:4:2]


def test_items_are_numbers_in_version_2():
    tensor_shape.enable_v2_tensorshape()
    try:
        assert TensorShape([1, None])[1] is None and list(TensorShape([1, None])) == [1, None]
        assert str(TensorShape([None])) == "(None,)" and repr(TensorShape([1])) == "TensorShape([1])"
    finally:
        tensor_shape.disable_v2_tensorshape()


def test_strings_are_no_shapes():
    with pytest.raises(TypeError, match="ambiguous TensorShape"):
        TensorShape("abc")


def test_compatibility():
    assert TensorShape([None, 2]).is_compatible_with([3, 2]) and not TensorShape([1]).is_compatible_with([1, 1])
    assert TensorShape([2, 1]).most_specific_compatible_shape([5, 1]).as_list() == [None, 1]
    assert TensorShape([2, 3]).num_elements() == 6 and TensorShape([None]).num_elements() is None


def test_version_2_compares_and_asks(monkeypatch):
    monkeypatch.setattr(tensor_shape.tf2, "enabled", lambda: True)
    assert TensorShape(None) != TensorShape([1]) and not TensorShape(None) != TensorShape(None)
    assert [bool(Dimension(n)) for n in (1, 0, None)] == [True, False, False]
    with pytest.raises(TypeError, match="must be integer or None"):
        Dimension(42).merge_with([])
