"""tf.experimental.ExtensionType: fields by annotation, and values that go wherever tensors go. What is refused, and in
which words, is as in TensorFlow 2.21."""
import typing

import numpy as np
import pytest

import penstock as tf
from penstock._src.graph import context


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


class Masked(tf.experimental.ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor
    name: str = "m"

    def total(self):
        return tf.reduce_sum(tf.where(self.mask, self.values, tf.zeros_like(self.values)))


class Network(tf.experimental.ExtensionType):
    layers: typing.Tuple[Masked, ...]
    parameters: typing.Mapping[str, tf.Tensor]
    rate: typing.Optional[tf.Tensor] = None
    shape: tf.TensorShape = tf.TensorShape([2])
    pair: typing.Tuple[int, float] = (1, 2.0)
    kind: typing.Union[int, str] = 3
    exact: tf.TensorSpec([2], tf.float64) = (0.0, 0.0)

    def __validate__(self):
        assert len(self.layers) < 3, "too many"


def masked(*values, mask=(True, False)):
    return Masked(list(values), list(mask))


def test_fields():
    m = masked(1.0, 2.0)
    assert m.values.dtype == tf.float32 and m.mask.dtype == tf.bool and m.name == "m" and float(m.total()) == 1.0
    n = Network([m, m], {"a": [1, 2]}, rate=3)
    assert n.layers == (m, m) or len(n.layers) == 2
    assert n.parameters["a"].numpy().tolist() == [1, 2] and int(n.rate) == 3 and n.exact.dtype == tf.float64
    assert n.shape == [2] and n.pair == (1, 2.0) and n.kind == 3
    assert tf.experimental.extension_type.as_dict(m)["name"] == "m"
    assert repr(masked(1.0, 2.0)).startswith("Masked(values=<tf.Tensor: shape=(2,), dtype=float32, numpy=")


def test_values_do_not_change():
    m = masked(1.0, 2.0)
    with pytest.raises(AttributeError, match="Cannot mutate attribute `values` outside the custom constructor"):
        m.values = 3
    with pytest.raises(AttributeError, match="Cannot mutate attribute `mask`"):
        del m.mask
    with pytest.raises(TypeError, match="immutable"):
        Network([], {}).parameters["a"] = 1


@pytest.mark.parametrize("make, error, words", [
    (lambda: Masked([1.0]), TypeError, "missing a required argument: 'mask'"),
    (lambda: Masked([1.0], [True], 3), TypeError, "name: expected 'str', got 'int'"),
    (lambda: Masked(object(), [True]), TypeError, "values: expected a Tensor, got 'object'"),
    (lambda: Network(3, {}), TypeError, "layers: expected tuple, got 'int'"),
    (lambda: Network([3], {}), TypeError, "layers.0.: expected 'Masked', got 'int'"),
    (lambda: Network([], 3), TypeError, "parameters: expected mapping, got 'int'"),
    (lambda: Network([], {}, kind=2.5), TypeError, r"kind: expected typing.Union\[int, str\], got 'float'"),
    (lambda: Network([], {}, exact=[1.0]), TypeError, "exact"),
    (lambda: Network([masked(1.0, 2.0)] * 4, {}), AssertionError, "too many"),
])
def test_what_does_not_fit(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_annotations_that_are_refused():
    with pytest.raises(TypeError, match="In field 'a': Unsupported type annotation 'list'"):
        type("Bad", (tf.experimental.ExtensionType,), {"__annotations__": {"a": list}})
    with pytest.raises(ValueError, match="Field 'Spec' is reserved"):
        type("Bad", (tf.experimental.ExtensionType,), {"__annotations__": {"Spec": tf.Tensor}})


def test_constructors_and_derived_types():
    class Doubled(tf.experimental.ExtensionType):
        a: tf.Tensor

        def __init__(self, value):
            if value is not None:
                self.a = tf.convert_to_tensor(value) * 2

    class More(Masked):
        count: int = 2

    assert int(Doubled(2).a) == 4
    with pytest.raises(ValueError, match="Missing required fields: {'a'}"):
        Doubled(None)
    made = More([1.0], [True], count=5)
    assert made.count == 5 and made.name == "m" and float(made.total()) == 1.0


def test_equality():
    assert bool(masked(1.0, 2.0) == masked(1.0, 2.0)) and bool(masked(1.0, 2.0) != masked(1.0, 3.0))
    assert not (masked(1.0, 2.0) == masked(1.0, 2.0, 3.0, mask=[True] * 3)) and masked(1.0, 2.0) != 3


def test_specs():
    spec = tf.type_spec_from_value(masked(1.0, 2.0))
    assert isinstance(spec, Masked.Spec) and repr(spec) == (
        "Masked.Spec(values=TensorSpec(shape=(2,), dtype=tf.float32, name=None), "
        "mask=TensorSpec(shape=(2,), dtype=tf.bool, name=None), name='m')")
    wide = Masked.Spec(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool), "m")
    assert wide.is_compatible_with(masked(1.0, 2.0)) and not spec.is_compatible_with(masked(1.0, mask=[True]))
    assert wide.value_type is Masked and [t.shape.rank for t in tf.nest.flatten(masked(1.0, 2.0),
                                                                                expand_composites=True)] == [1, 1]
    with pytest.raises(TypeError, match="expected a TensorSpec"):
        Masked.Spec(3, tf.TensorSpec([None], tf.bool), "m")
    with pytest.raises(TypeError, match="missing a required argument: 'name'"):
        Masked.Spec(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool))


def test_in_functions():
    f = tf.function(lambda m: (m.total(), m))
    total, same = f(masked(1.0, 2.0))
    assert float(total) == 1.0 and isinstance(same, Masked) and same.name == "m"
    f(masked(3.0, 4.0))
    assert f.experimental_get_tracing_count() == 1
    spec = Masked.Spec(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool), "m")
    assert float(tf.function(lambda m: m.total(), input_signature=[spec])(masked(1.0, 2.0))) == 1.0
    nested = Network([masked(1.0, 2.0), masked(5.0, 6.0)], {"b": 1.0, "a": 2.0})
    assert float(tf.function(lambda n: n.layers[1].total() - n.parameters["b"])(nested)) == 4.0


def test_in_control_flow_and_gradients():
    @tf.function
    def either(p):
        return tf.cond(p, lambda: masked(1.0, 2.0), lambda: masked(5.0, 6.0)).total()

    @tf.function
    def loop(m, n):
        for _ in tf.range(n):
            m = Masked(m.values * 2.0, m.mask)
        return m.total()

    assert float(either(tf.constant(False))) == 5.0
    x = tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = loop(Masked(x * x, [True, False]), tf.constant(3))
    np.testing.assert_allclose(tape.gradient(y, x), [48.0, 0.0])


class Row(tf.experimental.BatchableExtensionType):
    values: tf.Tensor
    mask: tf.Tensor


class Rows(tf.experimental.BatchableExtensionType):
    ragged: tf.RaggedTensor
    row: Row


def _rows():
    return Row([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [[True, False]] * 3)


def test_datasets_batch_and_unbatch():
    dataset = tf.data.Dataset.from_tensor_slices(_rows())
    assert dataset.element_spec == Row.Spec(tf.TensorSpec([2]), tf.TensorSpec([2], tf.bool))
    assert [x.values.numpy().tolist() for x in dataset] == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    batches = dataset.map(lambda x: Row(x.values * 2.0, x.mask)).batch(2)
    assert batches.element_spec == Row.Spec(tf.TensorSpec([None, 2]), tf.TensorSpec([None, 2], tf.bool))
    assert [x.values.numpy().tolist() for x in batches] == [[[2.0, 4.0], [6.0, 8.0]], [[10.0, 12.0]]]
    assert len(list(tf.data.Dataset.from_tensors(_rows()).unbatch())) == 3
    within = tf.data.Dataset.from_tensor_slices(Rows(tf.ragged.constant([[1], [2, 3], []]), _rows()))
    assert [x.ragged.numpy().tolist() for x in within] == [[1], [2, 3], []]
    first = next(iter(within.batch(2)))
    assert first.ragged.to_list() == [[1], [2, 3]] and first.row.values.shape == [2, 2]


def test_map_fn_goes_through_rows():
    made = tf.map_fn(lambda x: Row(x.values * 2.0, x.mask), _rows())
    assert made.values.numpy().tolist() == [[2.0, 4.0], [6.0, 8.0], [10.0, 12.0]] and made.mask.shape == [3, 2]
    sums = tf.map_fn(lambda x: tf.reduce_sum(x.values), _rows(), fn_output_signature=tf.float32)
    assert sums.numpy().tolist() == [3.0, 7.0, 11.0]
    spec = Row.Spec(tf.TensorSpec([]), tf.TensorSpec([], tf.bool))
    function = tf.function(lambda x: tf.map_fn(lambda i: Row(i, i > 1.0), x, fn_output_signature=spec))
    made = function(tf.constant([1.0, 2.0]))
    assert made.values.numpy().tolist() == [1.0, 2.0] and made.mask.numpy().tolist() == [False, True]


def test_an_encoder_of_its_own():
    encoded = []

    class Negated(tf.experimental.ExtensionTypeBatchEncoder):
        def encode(self, spec, value, minimum_rank=0):
            encoded.append(minimum_rank)
            return [-value.x]

        def encoding_specs(self, spec):
            return [spec.x]

        def decode(self, spec, encoded_value):
            return Point(-encoded_value[0])

    class Point(tf.experimental.BatchableExtensionType):
        __batch_encoder__ = Negated()
        x: tf.Tensor

    dataset = tf.data.Dataset.from_tensor_slices(Point([1, 2, 3])).batch(2)
    assert [point.x.numpy().tolist() for point in dataset] == [[1, 2], [3]] and encoded == [1]


def test_other_extension_types_are_not_batched():
    class Plain(tf.experimental.ExtensionType):
        x: tf.Tensor

    with pytest.raises(AttributeError, match="_to_batched_tensor_list"):
        tf.data.Dataset.from_tensor_slices(Plain([1, 2]))


class Scaled(tf.experimental.ExtensionType):
    values: tf.Tensor
    factor: int
    name: str = "x"


def test_a_function_is_traced_for_each_field_that_is_no_tensor():
    function = tf.function(lambda s: (s.values * s.factor, s.name))
    for factor, name in ((2, "x"), (3, "x"), (3, "y"), (2, "x")):
        product, told = function(Scaled(tf.constant(5), factor, name))
        assert int(product) == 5 * factor and told.numpy().decode() == name
    assert function.experimental_get_tracing_count() == 3


class Tree(tf.experimental.ExtensionType):
    branches: typing.Tuple["Leaf", ...]
    other: typing.Optional["Tree"] = None


class Leaf(tf.experimental.ExtensionType):
    size: tf.Tensor


class Lost(tf.experimental.ExtensionType):
    field: "Nowhere"  # noqa: F821


def test_annotations_name_classes_that_come_later():
    tree = Tree([Leaf(1), Leaf(2)], Tree([]))
    assert repr(tree._type_spec.branches[0]) == repr(Leaf(1)._type_spec)
    assert int(tf.function(lambda t: t.branches[0].size + t.branches[1].size)(tree)) == 3
    with pytest.raises(TypeError, match="expected"):
        Tree([1])
    for made in (Lost, Lost.Spec):
        with pytest.raises(TypeError, match="field: Unsupported type annotation 'Nowhere'"):
            made(3)


def test_names_that_specs_need_are_reserved():
    with pytest.raises(ValueError, match="Field '_to_components' is reserved"):
        type("Bad", (tf.experimental.ExtensionType,), {"__annotations__": {"_to_components": int}})
    with pytest.raises(ValueError, match="Field 'is_compatible_with' is reserved"):
        type("Bad", (tf.experimental.ExtensionType,), {"is_compatible_with": lambda self, other: False})


class Ranked(tf.experimental.BatchableExtensionType):
    values: tf.Tensor
    mask: tf.Tensor

    class Spec:
        def __init__(self, shape, dtype=tf.float32):
            self.values = tf.TensorSpec(shape, dtype)
            self.mask = tf.TensorSpec(shape, tf.bool)

        def __repr__(self):
            return f"Ranked.Spec({self.shape}, {self.dtype.name})"

        shape = property(lambda self: self.values.shape)
        dtype = property(lambda self: self.values.dtype)


def test_a_spec_with_a_constructor_of_its_own():
    spec = Ranked.Spec([2])
    assert repr(spec) == "Ranked.Spec((2,), float32)"
    assert spec == Ranked([1.0, 2.0], [True, False])._type_spec
    with pytest.raises(AttributeError, match="outside the custom constructor of ExtensionTypeSpec"):
        spec.values = None
    made = [Ranked([i, i + 1], [True, False]) for i in range(3)]
    data = tf.data.Dataset.from_generator(lambda: made, output_signature=Ranked.Spec([2], tf.int32)).batch(2)
    assert data.element_spec.shape.as_list() == [None, 2] and data.element_spec.dtype == tf.int32
    assert [x.values.numpy().tolist() for x in data] == [[[0, 1], [1, 2]], [[2, 3]]]
    twice = tf.function(lambda x: x.values * 2, input_signature=[Ranked.Spec([None])])
    assert twice(Ranked([1.0], [True])).numpy().tolist() == [2.0]


class Sized(tf.experimental.BatchableExtensionType):
    shape: tf.TensorShape
    parts: typing.Mapping[str, tf.Tensor]


def test_shapes_of_batches():
    data = tf.data.Dataset.from_tensor_slices(Sized([2], {"a": [1.0, 2.0]}))
    assert data.element_spec.shape == [] and [x.shape.as_list() for x in data] == [[], []]
    assert data.batch(2).element_spec.shape.as_list() == [None]
    assert data.batch(2, drop_remainder=True).element_spec.shape == [2]


def test_mappings_say_that_they_do_not_change():
    value = Sized([], {"a": 1.0}).parts
    assert repr(value) == "ImmutableDict({'a': <tf.Tensor: shape=(), dtype=float32, numpy=1.0>})"
