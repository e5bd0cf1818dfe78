import pytest

from penstock._src.session.session import Session
from penstock._src.graph import dtypes, errors, gen, ops, random_seed
from penstock._src.function import defun as function
from penstock._src.graph.constant_op import constant_v1 as constant
from penstock._src.gradient import gradients_impl
from penstock._src.ops.state import resource_variable_ops, variable_scope, variables


@pytest.fixture(autouse=True)
def graph():
    with ops.Graph().as_default() as g:
        yield g


def run(value):
    with Session() as sess:
        return sess.run(value)


def test_a_function_is_one_node(graph):
    @function.Defun(dtypes.float32, dtypes.float32, func_name="Plus")
    def plus(a, b):
        """Adds."""
        return gen.add_v2(a, b)

    call = plus(1.0, 2.0)
    assert call.op.type == "Plus" and call.op.name == "Plus" and plus.name == "Plus"
    assert [a.name for a in plus.signature.input_arg] == ["a", "b"] and plus.signature.description == "Adds."
    assert [f.signature.name for f in graph.as_graph_def().library.function] == ["Plus"]
    assert run(call) == 3.0


def test_names_without_func_name_have_a_hash():
    @function.Defun(dtypes.float32)
    def twice(x):
        return gen.add_v2(x, x)

    twice(1.0)
    base, _, digits = twice.name.rpartition("_")
    assert base == "twice" and len(digits) >= 8


def test_captured_tensors_become_arguments():
    outer = constant(10.0)

    @function.Defun(dtypes.float32)
    def add_outer(x):
        return gen.add_v2(x, outer)

    result = add_outer(1.0)
    assert list(result.op.inputs)[1] is outer and add_outer.captured_inputs == [outer] and run(result) == 11.0


def test_functions_call_functions():
    @function.Defun(dtypes.float32)
    def inner(x):
        return gen.mul(x, 2.0)

    @function.Defun(dtypes.float32)
    def both(x):
        return inner(x), gen.add_v2(inner(inner(x)), 1.0)

    assert [float(v) for v in run(both(3.0))] == [6.0, 13.0]


def test_types_of_the_call():
    @function.Defun()
    def same(x):
        return gen.add_v2(x, x)

    assert run(same(constant(1))) == 2 and run(same(constant(1.5))) == 3.0


def test_errors():
    with pytest.raises(ValueError, match="can not return None"):
        function.Defun(dtypes.float32)(lambda x: [None])(1.0)
    with pytest.raises(ValueError, match="Expected number of arguments: 1, received: 2"):
        function.Defun(dtypes.float32)(lambda x: gen.identity(x))(1.0, 2.0)
    with pytest.raises(ValueError, match="arguments than the number of specified input types"):
        function.Defun(dtypes.float32, dtypes.float32)(lambda x: x)


def test_what_is_guaranteed_constant_is_so_in_the_body():
    weights = gen.guarantee_const(constant(3.0))
    more = gen.mul(weights, gen.guarantee_const(constant(2.0)))
    free = gen.mul(weights, constant(2.0))

    @function.Defun(dtypes.float32)
    def use(x):
        return gen.add_v2(gen.mul(x, more), free)

    assert run(use(1.0)) == 12.0 and use.captured_inputs == [more, free]
    assert [node.op for node in use.definition.node_def].count("GuaranteeConst") == 1


def test_too_many_names_of_outputs():
    @function.Defun(dtypes.float32, out_names=["a", "b"])
    def identity(x):
        return x

    with pytest.raises(errors.InvalidArgumentError, match="output names size = 2 outputs size = 1"):
        identity(1.0)


def test_the_gradient_by_a_variable_is_like_its_value():
    v = resource_variable_ops.ResourceVariable([[1.0, 2.0]])

    @function.Defun(dtypes.float32)
    def times(x):
        return gen.mul(x, v.read_value())

    gradient, = gradients_impl.gradients(times(3.0), v)
    assert gradient.dtype == dtypes.float32 and gradient.shape.as_list() == [1, 2]
    with Session() as sess:
        sess.run(variables.global_variables_initializer())
        assert sess.run(gradient).tolist() == [[3.0, 3.0]]


def test_a_resource_variable_of_the_body_is_read_outside(graph):
    @function.Defun()
    def doubled():
        v = variable_scope.get_variable("v", initializer=3.0, use_resource=True)
        result = v * 2.0
        extra, = function.get_extra_args()
        assert (extra.dtype, extra.shape) == (dtypes.float32, [])
        return result

    call = doubled()
    assert [t.op.type for t in call.op.inputs] == ["ReadVariableOp"]
    with Session() as sess:
        sess.run(variables.global_variables_initializer())
        assert sess.run(call) == 6


def test_random_numbers_of_calls(graph):
    """1.15.5's: a body does not have the graph's seed, and each call draws a sequence of its own."""
    random_seed.set_random_seed(7)

    @function.Defun()
    def drawn():
        return gen.random_uniform(constant([], dtypes.int32), dtypes.float32, *random_seed.get_seed(3))

    @function.Defun()
    def two():
        return drawn() + 0.0, drawn() + 0.0

    calls = [drawn(), drawn(), *two()]
    with Session() as sess:
        for expected in (0.3869, 0.6633, 0.1958):
            assert sess.run(calls) == pytest.approx([expected] * 4, abs=1e-4)
