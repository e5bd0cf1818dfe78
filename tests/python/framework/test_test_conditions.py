"""tf.test.TestCase with ragged values, and what tests ask of the machine they run on."""
import unittest

import numpy as np
import pytest

import penstock as tf
from penstock._src.graph import context
from penstock._src.testing import test_util


@pytest.fixture(autouse=True)
def eagerly():
    with context.eager_mode():
        yield


class Case(tf.test.TestCase):
    __test__ = False

    def runTest(self):  # noqa: N802
        pass


@pytest.fixture
def case():
    return Case()


def test_ragged_values_are_compared_with_nested_lists(case):
    rows = tf.ragged.constant([[1., 2.], [], [3.]])
    case.assertAllEqual(rows, [[1., 2.], [], [3.]])
    case.assertAllClose(rows, [[1., 2.], [], [3. + 1e-9]])
    case.assertAllEqual(tf.ragged.constant([["a"], []]), [[b"a"], []])
    for other in ([[1., 2.], [3.], []], [[1., 2.], []]):
        with pytest.raises(AssertionError):
            case.assertAllEqual(rows, other)
        with pytest.raises(AssertionError):
            case.assertAllClose(rows, other)
    with pytest.raises(AssertionError):
        case.assertAllEqual(tf.ragged.constant([[[1]]], ragged_rank=1), tf.ragged.constant([[[1]]]))


def test_dicts_of_arrays(case):
    case.assertDictEqual({"x": np.array([1, 2]), "y": tf.constant(.1)}, {"x": [1, 2], "y": np.float32(.1)})
    with pytest.raises(AssertionError):
        case.assertDictEqual({"x": np.array([1, 2])}, {"x": [1, 3]})
    with pytest.raises(AssertionError):
        case.assertDictEqual({"x": np.array([1, 2])}, {"y": [1, 2]})


def test_incompatible_shapes(case):
    with case.assertRaisesIncompatibleShapesError():
        tf.constant([1, 2]) + tf.constant([1, 2, 3])


def test_decorators_run_the_method_in_their_modes():
    runs = []

    class Modes(tf.test.TestCase):
        @test_util.also_run_as_tf_function
        def test_function(self):
            runs.append(tf.executing_eagerly())

        @test_util.build_as_function_and_v1_graph
        def test_graphs(self):
            runs.append(tf.executing_eagerly())

        @test_util.run_gpu_only
        def test_gpu(self):
            runs.append("gpu")

        @test_util.disable_xla("no reason")
        def test_as_it_is(self):
            with test_util.device(use_gpu=False):
                runs.append(tf.constant(1).device[-5:])

        def test_skipped(self):
            with test_util.skip_if_error(self, ValueError, "wrong"):
                raise ValueError("all wrong")

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Modes).run(result)
    assert not result.errors and not result.failures
    assert len(result.skipped) == (2 if not test_util.is_gpu_available() else 1) + 1  # and test_session
    assert runs.count(True) == 1 and runs.count(False) == 3 and "CPU:0" in runs


def test_tapes_of_graphs_and_of_eager_values():
    with tf.Graph().as_default(), test_util.AbstractGradientTape(use_tape=False) as tape:
        x = tf.constant(3.)
        gradient = tape.gradient(x * x, x)
        with tf.compat.v1.Session() as sess:
            assert sess.run(gradient) == 6.
    x = tf.constant(3.)
    with test_util.AbstractGradientTape(use_tape=True) as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x).numpy() == 6.


def test_shapes_of_other_layouts():
    assert test_util.NHWCToNCHW([1, 2, 3, 4]) == [1, 4, 2, 3]
    assert test_util.NCHWToNHWC([1, 4, 2, 3]) == [1, 2, 3, 4]
    assert test_util.NHWCToNCHW(tf.zeros([1, 2, 3, 4, 5])).shape == [1, 5, 2, 3, 4]


def test_named_combinations():
    made = test_util.generate_combinations_with_testcase_name(a=[1, 2], b="x")
    assert made == [{"a": 1, "b": "x", "testcase_name": "_test_a_1_b_x"}, {"a": 2, "b": "x",
                                                                            "testcase_name": "_test_a_2_b_x"}]


def test_random_tensors_are_compared_in_one_step(case):
    with tf.Graph().as_default(), case.test_session():
        x = tf.random.normal([3])
        case.assertAllClose(x, x)
        case.assertAllEqual([x, x][0], tf.identity(x))
        case.assertAllCloseAccordingToType(2 * x, x + x)
