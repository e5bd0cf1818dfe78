"""TypeSpec, the specs of composite values, and nest with them. The expected values are those of TensorFlow 1.15.5."""
import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.graph import composite_tensor, tensor_spec, type_spec
from penstock._src.base import nest


class Pair:
    def __init__(self, x, y):
        self.x, self.y = x, y


class PairSpec(type_spec.TypeSpec):
    value_type = property(lambda self: Pair)

    def __init__(self, x, y, color="red"):
        self.x, self.y, self.color = x, y, color

    def _serialize(self):
        return self.x, self.y, self.color

    _component_specs = property(lambda self: (self.x, self.y))

    def _to_components(self, value):
        return value.x, value.y

    def _from_components(self, components):
        return Pair(*components)


class Box(composite_tensor.CompositeTensor):
    def __init__(self, parts):
        self.parts = parts

    @property
    def _type_spec(self):
        return BoxSpec(nest.map_structure(type_spec.type_spec_from_value, self.parts))


class BoxSpec(type_spec.TypeSpec):
    value_type = property(lambda self: Box)

    def __init__(self, parts):
        self.parts = parts

    def _serialize(self):
        return self.parts,

    _component_specs = property(lambda self: self.parts)

    def _to_components(self, value):
        return value.parts

    def _from_components(self, components):
        return Box(components)


def spec(x, y, **more):
    return PairSpec(tf.TensorSpec(x), tf.TensorSpec(y), **more)


def test_specs_compare_by_what_they_say():
    array = {"color": np.array([[1, 2], [3, 4]])}
    assert spec([2], None) == spec([2], None) and hash(spec([2], [1], **array)) == hash(spec([2], [1], **array))
    assert spec([2], None) != spec([3], None) and spec([2], [1], **array) != spec([2], [1], color=np.array([1]))
    assert spec([None], None).is_compatible_with(spec([2], [1]))
    assert not spec([2], [1]).is_compatible_with(spec([3], [1]))
    assert not spec([2], [1]).is_compatible_with(spec([2], [1], color="blue"))
    assert spec([2], [1]).most_specific_compatible_type(spec([3], [1])) == spec([None], [1])
    with pytest.raises(ValueError):
        spec([2], [1]).most_specific_compatible_type(spec([2], [1], color="blue"))


def test_the_order_of_a_dictionary_says_nothing():
    x, y = tf.TensorSpec([1], tf.float32), tf.TensorSpec([None], tf.float32)
    a, b = tf.data.experimental.DatasetStructure({"x": x, "y": y}), tf.data.experimental.DatasetStructure(
        {"y": y, "x": x})
    assert a == b and hash(a) == hash(b) and a.is_compatible_with(b) and a.is_subtype_of(b)
    assert list(a.most_specific_compatible_type(b).element_spec) == ["x", "y"]
    assert a != tf.data.experimental.DatasetStructure({"x": y, "y": x})


def test_a_registered_type_has_a_spec():
    with pytest.raises(TypeError, match="Could not build a TypeSpec"):
        type_spec.type_spec_from_value(Pair(1, 2))
    type_spec.register_type_spec_from_value_converter(Pair, lambda p: spec(np.shape(p.x), np.shape(p.y)))
    try:
        assert type_spec.type_spec_from_value(Pair([1.0], 2.0)) == spec([1], [])
    finally:
        type_spec._converters.pop()


def test_nest_goes_into_composites():
    box = Box({"b": 1, "a": [2, Box(3)]})
    assert nest.flatten(box) == [box] and nest.flatten(box, expand_composites=True) == [2, 3, 1]
    assert [p for p, _ in nest.flatten_with_tuple_paths(box, expand_composites=True)] == [
        ("Box", "a", 0), ("Box", "a", 1, "Box"), ("Box", "b")]
    doubled = nest.map_structure(lambda x: 2 * x, box, expand_composites=True)
    assert isinstance(doubled, Box) and doubled.parts["a"][1].parts == 6
    nest.assert_same_structure(box, box._type_spec, expand_composites=True)
    with pytest.raises(ValueError, match="Incompatible CompositeTensor TypeSpecs"):
        nest.assert_same_structure(Box([1, 2]), Box([1]), expand_composites=True)
    assert composite_tensor.replace_composites_with_components([box, 5]) == [{"b": 1, "a": [2, 3]}, 5]


def test_sparse_tensors():
    with tf.Graph().as_default():
        sparse = tf.SparseTensor([[0, 1]], [1.0], [2, 2])
        assert sparse._type_spec == tf.SparseTensorSpec([2, 2]) == tf.SparseTensorSpec([4, 2, 2])._unbatch()
        assert tf.SparseTensorSpec([2, 2])._batch(None) == tf.SparseTensorSpec([None, 2, 2])
        dense = tf.sparse.to_dense(sparse)
        assert sparse.consumers() == [dense.op]
        again = nest.pack_sequence_as(sparse, nest.flatten(sparse, expand_composites=True), expand_composites=True)
        assert isinstance(again, tf.SparseTensor) and again.values is sparse.values


def test_subtypes():
    # As in TensorFlow 2.21.
    partly, whole = tf.TensorSpec([2, None], name="a"), tf.TensorSpec([2, 3])
    assert whole.is_subtype_of(tf.TensorSpec([2, None])) and whole.is_subtype_of(tf.TensorSpec(None))
    assert not partly.is_subtype_of(whole) and not whole.is_subtype_of(tf.TensorSpec([2, 3], tf.int32))
    assert not tf.TensorSpec([2], name="x").is_subtype_of(tf.TensorSpec([2]))
    assert whole.most_specific_common_supertype([tf.TensorSpec([4, 3])]) == tf.TensorSpec([None, 3])
    assert whole.most_specific_common_supertype([tf.TensorSpec([2, 3], tf.int32)]) is None
    assert partly.most_specific_common_supertype([tf.TensorSpec([2, None], name="b")]) is None
    ragged, longer = tf.RaggedTensorSpec([3, None]), tf.RaggedTensorSpec([None, None])
    assert ragged.is_subtype_of(longer) and not longer.is_subtype_of(ragged) and not ragged.is_subtype_of(whole)
    assert ragged.most_specific_common_supertype([longer]) == longer
    assert ragged.most_specific_common_supertype([whole]) is None
    shape = tf.TensorShape([1, 2])
    assert shape.is_subtype_of(tf.TensorShape([1, None])) and not tf.TensorShape(None).is_subtype_of(shape)
    assert shape.most_specific_common_supertype([tf.TensorShape([1, 3])]).as_list() == [1, None]
    assert tf.float32.is_subtype_of(tf.float32) and tf.float32.most_specific_common_supertype([tf.int32]) is None


def test_tensors_of_values():
    rows = tf.ragged.constant([[1.0], [2.0, 3.0]])
    kind = tf.RaggedTensorSpec([None, None])
    assert kind.flatten() == [tf.TensorSpec([None]), tf.TensorSpec([None], tf.int64)]
    tensors = kind.to_tensors(rows)
    assert [t.shape.as_list() for t in tensors] == [[3], [3]]
    again = kind.from_tensors(iter(tensors))
    assert again.flat_values is tensors[0] and again.row_splits is tensors[1]
    assert tf.TensorSpec([]).from_tensors(iter(tf.TensorSpec([]).to_tensors(rows.flat_values[0]))).shape == []


def test_specs_without_names():
    spec = tf.TensorSpec([1, None], tf.int32, name="x")
    assert spec._without_tensor_names() == tf.TensorSpec([1, None], tf.int32) and spec.name == "x"
    bounded = tensor_spec.BoundedTensorSpec([2], tf.float32, 0, 1, name="y")._without_tensor_names()
    assert bounded.name is None and bounded.maximum == 1
    masked = tf.RaggedTensorSpec([None, None], tf.string)
    assert masked._without_tensor_names() == masked
    assert type_spec._nameless({"a": (spec, 3), "b": [masked]}) == {
        "a": (tf.TensorSpec([1, None], tf.int32), 3), "b": [masked]}
