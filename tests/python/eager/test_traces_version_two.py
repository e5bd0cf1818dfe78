"""Which trace serves which arguments, and warnings about too many traces, as TensorFlow 2.21 has them (the expected
lists are its own)."""
import logging

import pytest

import penstock as tf
from penstock._src.graph import context
from penstock._src.base import tf2


@pytest.fixture(autouse=True)
def eagerly(monkeypatch):
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    with context.eager_mode():
        yield


def noting(traces, **options):
    @tf.function(**options)
    def f(x, k=1):
        value = x["a"] if isinstance(x, dict) else x
        traces.append(value.shape.as_list() if value.shape.rank is not None else None)
        return x
    return f


def test_a_trace_with_unknown_sizes_serves_all_of_them():
    traces = []
    f = noting(traces)
    f.get_concrete_function(tf.TensorSpec([None]))
    for shape in ([3], [4], [2, 2]):
        f(tf.ones(shape))
    f.get_concrete_function(tf.TensorSpec(None))
    for shape in ([2, 2, 2], [2]):
        f(tf.ones(shape))
    assert traces == [[None], [2, 2], None]
    assert f.get_concrete_function(tf.TensorSpec([7])) is not f.get_concrete_function(tf.TensorSpec(None))
    assert len(traces) == 3 and f.experimental_get_tracing_count() == 3
    f(tf.ones([7]), k=2)
    assert traces[3:] == [[7]]
    traces = []
    f = noting(traces)
    f.get_concrete_function(tf.RaggedTensorSpec([None, None]))
    for rows in ([[1.0], [2.0, 3.0]], [[1.0], [2.0], [3.0]]):
        assert f(tf.ragged.constant(rows)).to_list() == rows
    assert traces == [[None, None]]


def test_reduced_retracing():
    traces = []
    f = noting(traces, reduce_retracing=True)
    for shape in ([1], [2], [3], [4], [2, 1], [2, 2]):
        assert f({"a": tf.ones(shape), "b": 1})["a"].shape == shape
    for b in range(4):
        f({"a": tf.ones([2, b + 1]), "b": b})
    assert traces == [[1], [None], None, [2, 1], [2, 3], [2, 4]]
    for make, wanted in ((lambda i: tf.ragged.constant([[1, 2], [i]] + [[1]] * i), [[2, None], [None, None]]),
                         (lambda i: tf.sparse.from_dense(tf.ones([2, i + 1])), [[2, 1], [2, None]])):
        traces = []
        f = noting(traces, reduce_retracing=True)
        for i in range(4):
            f(make(i))
        assert traces == wanted

    @tf.function(reduce_retracing=True)
    def total(dataset):
        traces.append(None)
        return dataset.reduce(0, lambda a, x: a + tf.reduce_sum(x))

    traces = []
    assert [int(total(tf.data.Dataset.from_tensors(tf.ones([n], tf.int32)))) for n in (1, 2, 3)] == [1, 2, 3]
    assert len(traces) == 2


def warnings(caplog, call):
    """The numbers that the warnings name."""
    caplog.clear()
    with caplog.at_level(logging.WARNING, "tensorflow"):
        call()
    found = [r.getMessage() for r in caplog.records if "triggered tf.function retracing" in r.getMessage()]
    return [m.split(" calls")[0] for m in found]


def test_warnings_about_retracing(caplog):
    f = tf.function(lambda x: x)
    assert warnings(caplog, lambda: [f(i) for i in range(4)]) == []
    assert warnings(caplog, lambda: [f(i) for i in range(4, 9)]) == ["5 out of the last 5", "6 out of the last 6"]
    g = tf.function(lambda x: x + 1)
    assert warnings(caplog, lambda: [g(tf.constant(i // 3)) for i in range(20)]) == []

    def rarely():
        for i in range(8):
            h(i)
            for _ in range(4):
                h(i)

    h = tf.function(lambda x: x + 2)
    assert warnings(caplog, rarely) == []

    def again():
        for i in range(6):
            tf.function(inner)(tf.constant(i))

    def inner(x):
        return x - 1

    assert warnings(caplog, again) == ["5 out of the last 5", "6 out of the last 6"]


def test_a_method_whose_object_is_gone():
    class Echo:
        @tf.function
        def call(self, x):
            return x

        @tf.function
        def own(self, x):
            return x * self.factor

    assert int(Echo().call(tf.constant(3))) == 3  # as long as it does not look at the object
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'factor'"):
        Echo().own(tf.constant(3))
