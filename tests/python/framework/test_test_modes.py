"""tf.test.TestCase in graphs and in eager mode, and the decorators that say in which of them a method runs."""
import unittest

import numpy as np
import penstock.v1 as tf
import pytest

from penstock._src.graph import context
from penstock._src.testing import test_util


def run(case_class):
    """Runs all methods of a test case; the result has what failed or was skipped."""
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case_class).run(result)
    assert not result.errors and not result.failures, result
    return result


class Case(tf.test.TestCase):
    """A case to ask things of."""

    __test__ = False

    def runTest(self):
        """None of its own."""


def test_eager_values_are_evaluated_without_a_session():
    with context.eager_mode():
        case = Case()
        value = case.evaluate({"a": (tf.constant(3), [tf.Variable(2.0), None, lambda: tf.constant([1])])})
        assert value["a"][0] == 3 and value["a"][1][0] == 2.0 and value["a"][1][1] is None
        np.testing.assert_array_equal(value["a"][1][2], [1])
        sparse = case.evaluate(tf.SparseTensor([[0]], [1.0], [3]))
        assert isinstance(sparse, tf.SparseTensorValue) and sparse.dense_shape.tolist() == [3]
        slices = case.evaluate(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]), tf.constant([3])))
        assert slices.indices.tolist() == [0] and slices.dense_shape.tolist() == [3]
        ragged = case.evaluate(tf.ragged.constant([[1], [2, 3]]))
        assert ragged.values.tolist() == [1, 2, 3] and ragged.row_splits.tolist() == [0, 1, 3]
        case.assertAllClose(tf.constant([1.0, 2.0]), [1.0, 2.0])
        with pytest.raises(ValueError, match="Unsupported type <class 'int'>"):
            case.evaluate(3)


def test_sessions_of_a_case_in_eager_mode():
    with context.eager_mode():
        case = Case()
        with case.cached_session() as sess:
            assert sess.run(tf.constant(3)) == 3
            with pytest.raises(RuntimeError, match="feed_dict is not supported when eager"):
                sess.run(tf.constant(3), feed_dict={1: 2})
        with case.session() as sess, pytest.raises(AttributeError, match="while eager execution is enabled"):
            sess.run(tf.constant(3))


def test_a_method_runs_in_both_modes():
    seen = []

    class Both(tf.test.TestCase):
        def setUp(self):
            super().setUp()
            seen.append("setUp")

        @test_util.run_in_graph_and_eager_modes
        def testOne(self):
            v = tf.get_variable("v", [], initializer=tf.ones_initializer(), use_resource=True)
            self.evaluate(tf.global_variables_initializer())
            seen.append((tf.executing_eagerly(), self.evaluate(v + 1)))

        @test_util.run_in_graph_and_eager_modes(reset_test=False)
        def testTwo(self):
            seen.append(tf.executing_eagerly())

    result = run(Both)
    assert seen == ["setUp", (False, 2), "setUp", (True, 2), "setUp", False, True, "setUp"]
    assert [reason for _, reason in result.skipped] == ["Not a test."]  # test_session
    assert not tf.executing_eagerly()


def test_all_methods_of_a_class_run_in_both_modes():
    seen = []

    @tf.contrib.eager.run_all_tests_in_graph_and_eager_modes
    class All(tf.test.TestCase):
        def testOne(self):
            seen.append(tf.executing_eagerly())

        def testSkipEagerTwo(self):
            seen.append("two")

        def helper(self):
            raise AssertionError("no test")

    run(All)
    assert seen == [False, True, "two"]
    with pytest.raises(ValueError, match="only supports test methods"):
        test_util.run_in_graph_and_eager_modes(All)


def test_methods_of_one_mode():
    seen = []

    class Modes(tf.test.TestCase):
        @test_util.run_deprecated_v1
        def testGraph(self):
            seen.append(("graph", tf.executing_eagerly()))

        @test_util.run_v1_only("b/1")
        def testOne(self):
            seen.append("v1")

        @test_util.run_v2_only
        def testTwo(self):
            seen.append("v2")

    skipped = {reason for _, reason in run(Modes).skipped}
    assert seen == [("graph", False), "v1"] and "Test is only compatible with v2" in skipped
    with pytest.raises(ValueError, match="'reason' should be string"):
        test_util.run_v1_only(3)


def test_a_reset_within_a_graph_leaves_an_eager_program_in_graph_mode():
    """As tests of libraries do that call setUp in between."""
    from penstock._src.graph.context import executing_eagerly
    from penstock._src.graph import defaults
    from penstock._src.base.mode import mode
    eager, mode.eager = mode.eager, True
    try:
        with tf.Graph().as_default():
            defaults._default_graph_stack.reset()
            defaults.reset_default_graph()
            assert not executing_eagerly()
            graph = tf.placeholder(tf.float32).graph
            with tf.Graph().as_default():
                assert tf.get_default_graph() is not graph
            assert tf.get_default_graph() is graph
        assert executing_eagerly()
    finally:
        mode.eager = eager


def test_functions_may_give_structures():
    class Case(tf.test.TestCase):
        def runTest(self):  # noqa: N802
            pass

    with context.eager_mode():
        found = Case().evaluate([lambda: (tf.constant(1), {"a": tf.constant(2), "b": ()}), lambda: tf.constant(3)])
    assert found == [(1, {"a": 2, "b": ()}), 3]


def test_control_flow_of_version_two_in_tests():
    """1.15.5 and 2.21 make the same methods; the operation is called If where it is a single one."""
    kinds = {}

    @test_util.with_control_flow_v2
    class Test(tf.test.TestCase):
        def testCond(self):
            with tf.Graph().as_default() as graph:
                tf.cond(tf.placeholder(tf.bool, []), lambda: tf.constant(1), lambda: tf.constant(2))
            kinds[self._testMethodName] = any(op.type in ("If", "StatelessIf") for op in graph.get_operations())

        @test_util.disable_control_flow_v2("reasons")
        def testOnce(self):
            kinds[self._testMethodName] = None

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Test).run(result)
    assert result.wasSuccessful(), result.errors
    assert kinds == {"testCond": False, "testCondWithControlFlowV2": True, "testOnce": None}


def test_versions_and_nodes_of_graphs():
    with tf.Graph().as_default() as graph:
        tf.constant(1, name="one")
        test_util.set_producer_version(graph, 8)
        assert graph.graph_def_versions.producer == 8
        assert test_util.get_node_def_from_graph("one", graph.as_graph_def()).op == "Const"
        assert test_util.get_node_def_from_graph("two", graph.as_graph_def()) is None


def test_objects_that_tests_leave_alive():
    """As the decorators' names say; 2.21 counts Tensors only."""
    kept = []

    class Test(tf.test.TestCase):
        @test_util.assert_no_new_pyobjects_executing_eagerly
        def testClean(self):
            tf.constant(1.0) + 2.0

        @test_util.assert_no_new_pyobjects_executing_eagerly
        def testGrowing(self):
            kept.extend([] for _ in range(10))

        @test_util.assert_no_new_tensors
        def testTensors(self):
            kept.append(tf.constant(1.0))

        @test_util.assert_no_new_tensors
        def testNoTensors(self):
            tf.constant(1.0)

        @test_util.assert_no_garbage_created
        def testCircle(self):
            circle = []
            circle.append(circle)

        @test_util.assert_no_garbage_created
        def testNoCircle(self):
            [[]]

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Test).run(result)
    failed = sorted(test._testMethodName for test, _ in [*result.failures, *result.errors])
    assert failed == ["testCircle", "testGrowing", "testTensors"], (result.failures, result.errors)
