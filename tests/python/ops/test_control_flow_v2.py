"""Conditionals and loops as single operations: what is built is TensorFlow's, and it computes what it should."""
import numpy as np
import pytest

import penstock.v1 as v1  # first: beside it the tests of this process are version 1's
import penstock as tf
from penstock._src.graph import context
from penstock._src.base import tf2
from penstock._src.control_flow import cond_v2
from penstock._src.control_flow import while_v2


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


def nodes(graph_def):
    return {node.name: node for node in graph_def.node}


def body(graph_def, name):
    return next(f for f in graph_def.library.function if f.signature.name == name)


# What TensorFlow 2.21 builds for the same programs.


def test_a_conditional_as_tensorflow_builds_it():
    v = tf.Variable(1.0)

    @tf.function
    def f(x, c):
        return tf.cond(c, lambda: x * 2.0 + v, lambda: x - 1.0)

    spec = tf.TensorSpec([], tf.float32)
    graph_def = f.get_concrete_function(spec, tf.TensorSpec([], tf.bool)).graph.as_graph_def()
    node = nodes(graph_def)["cond"]
    assert node.op == "If"
    assert list(node.attr["Tin"].list.type) == [1, 20]
    assert node.attr["_lower_using_switch_merge"].b
    assert list(node.attr["_read_only_resource_inputs"].list.i) == [2]
    assert len(node.attr["output_shapes"].list.shape) == 1
    assert node.attr["then_branch"].func.name.startswith("cond_true_")
    assert node.attr["else_branch"].func.name.startswith("cond_false_")
    assert nodes(graph_def)["cond/Identity"].input[0] == "cond"
    taken = body(graph_def, node.attr["then_branch"].func.name)
    assert [a.name for a in taken.signature.input_arg] == ["cond_mul_x", "cond_add_readvariableop_resource"]
    assert [a.name for a in taken.signature.output_arg] == ["cond_identity"]
    assert list(taken.signature.control_output) == ["cond/add/ReadVariableOp"]
    other = body(graph_def, node.attr["else_branch"].func.name)
    assert [a.name for a in other.signature.input_arg] == ["cond_sub_x", "cond_placeholder"]
    assert [n.op for n in other.node_def] == ["Const", "Sub", "Identity"]
    assert (float(f(3.0, tf.constant(True))), float(f(3.0, tf.constant(False)))) == (7.0, 2.0)


def test_a_loop_as_tensorflow_builds_it():
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        def step(i, y):
            v.assign_add(1.0)
            return i + 1, y * 2.0

        return tf.while_loop(lambda i, y: i < 10, step, [0, x], parallel_iterations=3, maximum_iterations=7)

    graph_def = f.get_concrete_function(tf.TensorSpec([], tf.float32)).graph.as_graph_def()
    node = nodes(graph_def)["while"]
    assert node.op == "While"
    assert list(node.input)[:4] == ["while/loop_counter", "while/maximum_iterations", "Const", "x"]
    assert node.attr["_num_original_outputs"].i == 5
    assert node.attr["parallel_iterations"].i == 3
    assert len(node.attr["output_shapes"].list.shape) == 5
    assert list(node.attr["_read_only_resource_inputs"].list.i) == []
    cond = body(graph_def, node.attr["cond"].func.name)
    name = cond.signature.name
    assert [a.name for a in cond.signature.input_arg] == [
        "while_while_loop_counter", "while_while_maximum_iterations", "while_placeholder", "while_placeholder_1",
        f"while_{name}___redundant_placeholder0"]
    step = body(graph_def, node.attr["body"].func.name)
    assert [a.name for a in step.signature.output_arg] == [
        "while_identity", "while_identity_1", "while_identity_2", "while_identity_3",
        "while_assignaddvariableop_resource"]
    i, y = f(1.0)
    assert (int(i), float(y), float(v)) == (7, 128.0, 8.0)


def test_a_choice_as_tensorflow_builds_it():
    @tf.function
    def f(x, i):
        return tf.switch_case(i, [lambda: x + 1.0, lambda: x * x], default=lambda: x)

    graph_def = f.get_concrete_function(tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.int32)).graph.as_graph_def()
    node = nodes(graph_def)["switch_case/indexed_case"]
    assert node.op == "StatelessCase"
    assert [b.name.rsplit("_", 1)[0] for b in node.attr["branches"].list.func] == [
        f"switch_case_indexed_case_branch{i}" for i in range(3)]
    assert [float(f(3.0, tf.constant(i))) for i in (0, 1, 2, 9)] == [4.0, 9.0, 3.0, 3.0]


def test_arrays_are_lists():
    @tf.function
    def f(x):
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(4):
            if x > 0.0:
                array = array.write(i, x * tf.cast(i, tf.float32))
        return array.stack()

    types = {op.type for op in f.get_concrete_function(tf.TensorSpec([], tf.float32)).graph.get_operations()}
    assert {"TensorListReserve", "TensorListStack", "StatelessWhile"} <= types
    assert not any(kind.startswith("TensorArray") for kind in types)
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    np.testing.assert_allclose(y, [0, 2, 4, 6])
    assert float(tape.gradient(y, x)) == 6.0


@pytest.mark.parametrize("call,expected", [
    (lambda a: a.unstack([1.0, 2.0, 3.0]).stack(), [1, 2, 3]),
    (lambda a: a.unstack([1.0, 2.0, 3.0]).gather([2, 0]), [3, 1]),
    (lambda a: a.scatter([2, 0, 1], [1.0, 2.0, 3.0]).stack(), [2, 3, 1]),
    (lambda a: a.split([1.0, 2.0, 3.0], [1, 0, 2]).concat(), [1, 2, 3]),
    (lambda a: a.write(1, 5.0).read(1), 5.0),
    (lambda a: a.size(), 3),
])
def test_what_an_array_of_version_two_does(call, expected):
    @tf.function
    def f():
        return call(tf.TensorArray(tf.float32, size=3, infer_shape=False))

    np.testing.assert_allclose(f(), expected)


# In graphs of version 1.


@pytest.fixture
def functional():
    before = v1.control_flow_v2_enabled()
    v1.enable_control_flow_v2()
    with v1.Graph().as_default(), v1.Session() as session:
        yield session
    if not before:
        v1.disable_control_flow_v2()


def test_version_one_with_the_switch(functional):
    p, x = v1.placeholder(tf.bool, []), v1.placeholder(tf.float32, [])
    y = v1.cond(p, lambda: x * x, lambda: x + 1.0)
    z = v1.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), (0, y))[1]
    assert y.op.inputs[0].op.type in ("If", "StatelessIf")
    assert z.op.inputs[0].op.type in ("While", "StatelessWhile")
    slope = v1.gradients(z, x)[0]
    np.testing.assert_allclose(functional.run([z, slope], {p: True, x: 2.0}), [32.0, 80.0])
    np.testing.assert_allclose(functional.run([z, slope], {p: False, x: 2.0}), [24.0, 44.0])


def test_an_imported_graph_is_differentiated(functional):
    x = v1.placeholder(tf.float32, [], name="x")
    y = tf.identity(v1.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x * tf.random.normal([])), (0, x))[1],
                    name="y")
    graph_def = y.graph.as_graph_def()
    with v1.Graph().as_default(), v1.Session() as session:
        x, y = v1.import_graph_def(graph_def, return_elements=["x:0", "y:0"])
        np.testing.assert_allclose(*session.run([v1.gradients(y, x)[0], 4.0 * y / x], {x: 2.0}), rtol=1e-5)


# What cannot be.


def traced(function):
    return tf.function(function).get_concrete_function()


def test_branches_of_different_structure():
    with pytest.raises(TypeError, match="true_fn and false_fn arguments to tf.cond must have the same number, type, "
                                        "and overall structure of return values"):
        traced(lambda: tf.cond(tf.constant(True), lambda: (1.0, 2.0), lambda: 1.0))
    with pytest.raises(TypeError, match="have different types"):
        traced(lambda: tf.cond(tf.constant(True), lambda: 1.0, lambda: 1))


def test_a_branch_uses_a_tensor_of_the_other():
    seen = []

    def first():
        seen.append(tf.constant(1.0) * 2.0)
        return seen[0]

    with pytest.raises(ValueError, match="Tensor cond/mul:0 in true_fn is accessed from false_fn."):
        traced(lambda: cond_v2.cond_v2(tf.constant(True), first, lambda: seen[0] + 1.0))


def test_slices_of_tensors_outside():
    @tf.function
    def f(values, indices, p):
        return tf.convert_to_tensor(tf.cond(
            p, lambda: tf.IndexedSlices(values * 2.0, indices, tf.constant([3])),
            lambda: tf.IndexedSlices(values, tf.cast(indices, tf.int64), tf.constant([3]))))

    arguments = tf.constant([1.0, 2.0]), tf.constant([0, 2])
    np.testing.assert_allclose(f(*arguments, tf.constant(True)), [2, 0, 4])
    np.testing.assert_allclose(f(*arguments, tf.constant(False)), [1, 0, 2])


def test_effects_outside_of_a_branch(functional):
    v = v1.get_variable("effects", initializer=1.0, use_resource=True)
    assign = v.assign(5.0)

    def read():
        with tf.control_dependencies([assign]):
            return v.read_value()

    y = v1.cond(v1.placeholder_with_default(True, []), read, lambda: 0.0)
    functional.run(v.initializer)
    assert functional.run(y) == 5.0


def test_a_body_that_changes_its_variables():
    with pytest.raises(TypeError, match="type should remain constant"):
        traced(lambda: tf.while_loop(lambda x: True, lambda x: [tf.cast(x, tf.int32)], [tf.constant(1.0)]))
    with pytest.raises(ValueError, match="to specify a less-specific shape"):
        traced(lambda: tf.while_loop(lambda x: True, lambda x: [tf.concat([x, x], 0)], [tf.constant([1.0])]))
    with pytest.raises(ValueError):
        traced(lambda: tf.while_loop(lambda x: True, lambda x: [x, x], [tf.constant(1.0)]))


def test_shape_invariants():
    @tf.function
    def f():
        return tf.while_loop(lambda x: tf.shape(x)[0] < 5, lambda x: [tf.concat([x, x], 0)], [tf.constant([1.0])],
                             shape_invariants=[tf.TensorShape([None])])

    assert f()[0].shape == (8,)


def test_effects_keep_their_order_beside_a_gradient():
    v = tf.Variable(1.0)

    @tf.function
    def f(x, c):
        v.assign(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            if c:
                v.assign(v * x)
                y = x * v
            else:
                y = x
        slope = tape.gradient(y, x)
        before = v.read_value()
        v.assign(10.0)
        return slope, before

    for _ in range(10):
        slope, before = f(tf.constant(3.0), tf.constant(True))
        assert (float(slope), float(before), float(v)) == (6.0, 6.0, 10.0)


def test_a_python_gradient_reads_tensors_of_its_branch():
    @tf.custom_gradient
    def squared(x):
        doubled = x * 2.0
        return x * x, lambda dy: dy * doubled

    @tf.function
    def f(x):
        y = x
        for _ in tf.range(2):
            if x > 0.0:
                y = squared(y * 1.0)
        return y

    x = tf.constant(1.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    np.testing.assert_allclose(tape.gradient(y, x), 4 * 1.5 ** 3)


def test_internal_names():
    @tf.function
    def f():
        return while_v2.while_loop(lambda x: x < 50.0, lambda x: x * 3.0, [tf.constant(2.0)],
                                   return_same_structure=False)

    assert float(f()) == 54.0


def test_a_custom_gradient_in_a_loop_of_a_graph():
    with tf.Graph().as_default():
        v1.enable_control_flow_v2()
        try:
            x, n = tf.constant(2.0), tf.constant(3.0)

            @tf.custom_gradient
            def square(v):
                return v * v, lambda dy: dy * 2.0 * v * n

            result, = while_v2.while_loop(lambda v: v < 8.0, lambda v: (square(v),), [x], return_same_structure=True)
            gradient, = tf.gradients(result, x)
            with v1.Session() as session:
                assert session.run([result, gradient]) == [16.0, 2 * 2.0 * 3 * 2 * 4.0 * 3]
        finally:
            v1.disable_control_flow_v2()


def test_programs_switch_by_the_variable_of_the_module():
    from penstock._src.graph import control_flow_util
    before = control_flow_util.ENABLE_CONTROL_FLOW_V2
    try:
        for on, op in ((True, "While"), (False, "Exit")):
            control_flow_util.ENABLE_CONTROL_FLOW_V2 = on
            with v1.Graph().as_default() as graph:
                v1.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
            assert v1.control_flow_v2_enabled() is on and op in {o.type for o in graph.get_operations()}
    finally:
        control_flow_util.ENABLE_CONTROL_FLOW_V2 = before


def test_how_many_elements_a_stack_has_is_not_said_in_version_one(monkeypatch):
    def stacked():
        return tf.TensorArray(tf.float32, 3).write(0, [1.0, 2.0]).stack()

    for version, shape in ((1, [None, 2]), (2, [3, 2])):
        monkeypatch.setattr(tf2, "enabled", lambda version=version: version == 2)
        assert tf.function(stacked).get_concrete_function().outputs[0].shape.as_list() == shape


def test_predicates_and_bounds_of_wrong_kinds():
    """The classes of TensorFlow's exceptions, which are the same in both versions; that of a condition that returns
    nothing is an AssertionError there."""
    with pytest.raises(ValueError, match="predicate"):
        tf.cond(None, lambda: 1, lambda: 2)
    with pytest.raises(TypeError, match="int32"):
        while_v2.while_loop(lambda i: i < 3, lambda i: i + 1, [0], maximum_iterations=1.5)
    with pytest.raises(TypeError, match="returned None"):
        tf.function(lambda: while_v2.while_loop(lambda i: None, lambda i: i + 1, [0]))()
