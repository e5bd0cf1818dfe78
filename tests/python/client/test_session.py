"""Session.run: fetches, feeds, errors. The expected values are those of TensorFlow 1.15.5."""
import collections
import dataclasses

import numpy as np
import pytest

from penstock._src.session import session as session_lib
from penstock._src.session.session import InteractiveSession, Session
from penstock._src.graph import dtypes, errors, gen, ops
from penstock._src.graph.constant_op import constant_v1 as constant
from penstock._src.graph.indexed_slices import IndexedSlices
from penstock._src.graph.sparse_tensor import SparseTensor, SparseTensorValue


@pytest.fixture(autouse=True)
def graph():
    with ops.Graph().as_default() as g:
        yield g


@pytest.fixture
def sess(graph):
    with Session() as s:
        yield s


Point = collections.namedtuple("Point", ["x", "y"])


@dataclasses.dataclass
class Pair:
    first: object
    second: object


@pytest.mark.parametrize("repeats", [1, 3])
def test_fetches_keep_their_structure(sess, repeats):
    a, b = constant(1.0, name="a"), constant([2, 3], name="b")
    for _ in range(repeats):
        assert sess.run(a) == 1.0 and isinstance(sess.run(a), np.float32)
        assert sess.run("a:0") == 1.0 and sess.run("a") is None and sess.run(a.op) is None
        values = sess.run([a, (b, [a]), {"k": b, "l": a.op}])
        assert values[0] == 1.0 and values[1][0].tolist() == [2, 3] and values[1][1] == [1.0]
        assert values[2]["k"].tolist() == [2, 3] and values[2]["l"] is None
        assert sess.run(Point(a, a)) == Point(1.0, 1.0) and sess.run((a, a)) == (1.0, 1.0)
        assert sess.run(Pair(a, [a])) == Pair(1.0, [1.0])
        assert sess.run([]) == [] and sess.run(()) == () and sess.run({}) == {}
        ordered = sess.run(collections.OrderedDict([("z", a), ("a", a)]))
        assert type(ordered) is collections.OrderedDict and list(ordered) == ["z", "a"]
        assert sess.run([a, a, a.op, "a:0"]) == [1.0, 1.0, None, 1.0]


def test_any_tensor_may_be_fed(sess):
    a = constant(1.0)
    b = gen.identity(a)
    c = gen.add_v2(b, 1.0)
    assert sess.run(c) == 2.0 and sess.run(c, {b: 5}) == 6.0 and sess.run(c, {"Identity:0": 7}) == 8.0
    assert sess.run([b, c], {b: 5}) == [5.0, 6.0] and sess.run(c, {b: 5}) == 6.0


def test_fed_tensors_come_back_when_fetched(sess):
    x = gen.placeholder(dtypes.float32)
    for _ in range(3):
        assert sess.run(x, {x: 3}) == 3.0
        assert sess.run([x], {x: [1, 2]})[0].tolist() == [1.0, 2.0]


def test_nested_feeds(sess):
    x, y = gen.placeholder(dtypes.int32), gen.placeholder(dtypes.int32)
    assert sess.run([gen.identity(x), gen.identity(y)], {(x, y): (1, 2)}) == [1, 2]


def test_sparse_tensors_and_slices(sess):
    sparse = SparseTensor([[0, 1]], [3.0], [2, 2])
    value = sess.run(sparse)
    assert isinstance(value, SparseTensorValue)
    assert value.values.tolist() == [3.0] and value.indices.tolist() == [[0, 1]]
    fed = SparseTensorValue(np.array([[1, 1]]), np.array([2.0]), np.array([5, 5]))
    assert sess.run(sparse, {sparse: fed}).values.tolist() == [2.0]
    slices = IndexedSlices(constant([[1.0]]), constant([4]))
    assert sess.run(slices).indices.tolist() == [4] and sess.run(slices).dense_shape is None


def test_strings(sess):
    x = gen.placeholder(dtypes.string)
    y = gen.identity(x)
    assert sess.run(y, {x: "é"}) == "é".encode() and sess.run(y, {x: [b"a\0b", "c"]}).tolist() == [b"a\0b", b"c"]
    assert sess.run(constant(["a", "bc"])).tolist() == [b"a", b"bc"]


@pytest.mark.parametrize("warm", [False, True])
def test_bad_feeds(sess, warm):
    x = gen.placeholder(dtypes.float32, shape=[None, 2], name="x")
    y = gen.identity(x)
    n = gen.placeholder(dtypes.int32, name="n")
    m = gen.identity(n)
    if warm:
        sess.run(y, {x: [[1, 2]]})
        sess.run(m, {n: 1})
    text = r"Cannot feed value of shape \(3,\) for Tensor 'x:0', which has shape '\(\?, 2\)'"
    with pytest.raises(ValueError, match=text):
        sess.run(y, {x: [1, 2, 3]})
    with pytest.raises(TypeError, match="is not compatible with Tensor type"):
        sess.run(m, {n: 2**40})
    with pytest.raises(TypeError, match="cannot be a tf.Tensor object"):
        sess.run(y, {x: constant(1.0)})
    with pytest.raises(ValueError):
        sess.run(y, {x: "abc"})
    with pytest.raises(TypeError, match="Cannot interpret feed_dict key as Tensor"):
        sess.run(y, {"nothing:0": 1})
    with pytest.raises(TypeError, match="Cannot interpret feed_dict key as Tensor"):
        sess.run(y, {3: 1})
    with pytest.raises(TypeError):
        sess.run(y, [x])
    assert sess.run(m, {n: 4}) == 4


def test_missing_feed(sess):
    x = gen.placeholder(dtypes.float32, name="needed")
    with pytest.raises(errors.InvalidArgumentError, match="You must feed a value for placeholder tensor 'needed'") as e:
        sess.run(gen.identity(x))
    assert e.value.op is x.op and e.value.node_def.name == "needed"
    assert "test_session.py" in str(e.value)


def test_bad_fetches(sess, graph):
    a = constant(1)
    with pytest.raises(TypeError, match="Fetch argument None has invalid type"):
        sess.run(None)
    with pytest.raises(TypeError, match="invalid type"):
        sess.run([a, 3.5])
    with pytest.raises(ValueError, match="cannot be interpreted as a Tensor"):
        sess.run("nothing:0")
    with ops.Graph().as_default():
        foreign = constant(2)
    with pytest.raises(ValueError, match="not an element of this graph"):
        sess.run(foreign)
    graph.prevent_fetching(a.op)
    with pytest.raises(ValueError, match="not fetchable"):
        sess.run(a)
    graph.prevent_feeding(a)
    with pytest.raises(ValueError, match="may not be fed"):
        sess.run(gen.identity(a), {a: 3})


def test_an_empty_graph_and_a_closed_session():
    with ops.Graph().as_default():
        s = Session()
        with pytest.raises(RuntimeError, match="The Session graph is empty"):
            s.run([])
        a = constant(1)
        assert s.run(a) == 1
        s.close()
        s.close()
        with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
            s.run(a)


def test_bad_arguments():
    with pytest.raises(TypeError, match="target must be a string"):
        Session(37)
    with pytest.raises(TypeError, match="config must be a tf.ConfigProto"):
        Session(config=37)
    with pytest.raises(TypeError, match="graph must be a tf.Graph"):
        Session(graph=37)


def test_the_graph_may_grow_between_runs(sess):
    a = constant(2.0)
    assert sess.run(a) == 2.0
    b = gen.mul(a, a)
    assert sess.run(b) == 4.0 and sess.run([a, b]) == [2.0, 4.0]


def test_default_sessions(graph):
    a = constant(1.0)
    with pytest.raises(ValueError, match="No default session is registered"):
        a.eval()
    with Session() as s:
        assert a.eval() == 1.0 and ops.get_default_session() is s
        with pytest.raises(RuntimeError, match="not re-entrant"):
            s.__enter__()
        with ops.Graph().as_default():
            b = constant(2.0)
        with pytest.raises(ValueError, match="tensor's graph is different"):
            b.eval()
        with pytest.raises(ValueError, match="operation's graph is different"):
            b.op.run()
    s = InteractiveSession()
    try:
        assert a.eval() == 1.0
    finally:
        s.close()
    assert ops.get_default_session() is None


def test_callables(sess):
    x, y = gen.placeholder(dtypes.float32), gen.placeholder(dtypes.float32)
    total = gen.add_v2(x, y)
    add = sess.make_callable(total, feed_list=[x, y])
    assert add(1, 2) == 3.0 and add(np.float32(3), 4) == 7.0
    assert sess.make_callable(constant(5))() == 5 and sess.make_callable(constant(5).op)() is None
    assert sess.make_callable([constant(5)])() == [5]
    with pytest.raises(TypeError, match="`feed_list` must be a list or tuple"):
        sess.make_callable(total, feed_list=x)


def test_partial_runs(sess):
    a, b, c = [gen.placeholder(dtypes.float32, shape=[]) for _ in range(3)]
    r1 = gen.add_v2(a, b)
    r2 = gen.mul(r1, c)
    h = sess.partial_run_setup([r1, r2], [a, b, c])
    assert sess.partial_run(h, r1, {a: 1, b: 2}) == 3.0
    assert sess.partial_run(h, r2, {c: 17}) == 51.0
    with pytest.raises(errors.InvalidArgumentError):
        sess.partial_run("bogus", r1, {a: 1})
    handle = sess.partial_run_setup([r1, r2], [])  # a step that fails while somebody waits for what it makes
    with pytest.raises(errors.InvalidArgumentError, match="You must feed a value for placeholder"):
        sess.partial_run(handle, r1)


def test_fetched_arrays_are_fresh(sess):
    x = constant([1.0, 2.0])
    first = sess.run(x)
    first[0] = 7
    assert sess.run(x).tolist() == [1.0, 2.0]


def test_options_and_metadata(sess):
    from penstock import proto
    options = proto.RunOptions(trace_level=proto.RunOptions.FULL_TRACE)
    metadata = proto.RunMetadata()
    a = constant([1.0])
    assert sess.run(gen.add_v2(a, a), options=options, run_metadata=metadata).tolist() == [2.0]
    assert metadata.step_stats.dev_stats


@pytest.mark.parametrize("every, after, measured", [(0, 0, []), (1, 0, [0, 1, 2, 3, 4]), (2, 0, [1, 3]), (2, 2, [3])])
def test_cost_graph(every, after, measured):
    """As 1.15.5 gives it, but for times and the order of nodes."""
    from penstock import proto
    config = proto.ConfigProto()
    config.graph_options.build_cost_model = every
    config.graph_options.build_cost_model_after = after
    with ops.Graph().as_default(), Session(config=config) as sess:
        x = gen.placeholder(dtypes.float32, [2, 3], name="x")
        y = gen.relu(gen.mat_mul(x, constant([[1.0, 2], [3, 4], [5, 6]]), name="product"), name="y")
        found = []
        for run in range(5):
            metadata = proto.RunMetadata()
            sess.run(y, {x: [[1, 2, 3], [4, 5, 6]]}, run_metadata=metadata)
            if metadata.cost_graph.node:
                found.append(run)
                assert metadata.step_stats.dev_stats
                nodes = {n.name: n for n in metadata.cost_graph.node}
        assert found == measured
        if not measured:
            return
    assert [n.id for n in metadata.cost_graph.node] == list(range(len(metadata.cost_graph.node)))
    assert list(nodes)[:2] == ["_SOURCE", "_SINK"] and set(nodes) >= {"_arg_x_0_0", "product", "y", "_retval_y_0_0"}
    assert nodes["_arg_x_0_0"].control_input == [0] and nodes["_retval_y_0_0"].id in nodes["_SINK"].control_input
    assert [(i.preceding_node, i.preceding_port) for i in nodes["y"].input_info] == [(nodes["product"].id, 0)]
    output, = nodes["y"].output_info
    assert (output.size, [d.size for d in output.shape.dim], output.dtype) == (16, [2, 2], dtypes.float32)
    assert nodes["y"].compute_cost > 0 and nodes["y"].device.endswith("CPU:0")


def test_types_of_ones_own(sess):
    class Squared:
        def __init__(self, tensor):
            self.tensor = tensor

    session_lib.register_session_run_conversion_functions(
        Squared, lambda s: ([s.tensor], lambda values: values[0] ** 2), lambda s, v: [(s.tensor, v)],
        lambda s: [s.tensor])
    x = gen.placeholder(dtypes.float32)
    assert sess.run(Squared(gen.identity(x)), {x: 3.0}) == 9.0
    assert sess.run(gen.identity(x), {Squared(x): 4.0}) == 4.0
    with pytest.raises(ValueError, match="already been registered"):
        session_lib.register_session_run_conversion_functions(Squared, None)


def test_waiting_for_a_fed_placeholder():
    with ops.Graph().as_default(), Session() as session:
        fed = gen.placeholder(dtypes.int32, [])
        with ops.control_dependencies([fed]):
            five = constant(5)
        assert session.run(gen.mul(fed, five), {fed: 2}) == 10
        with pytest.raises(errors.InvalidArgumentError, match="You must feed a value"):
            session.run(five)


def test_attributes_of_a_default_session_can_be_set():
    """As programs do that make a session the default one for good."""
    with ops.Graph().as_default():
        default = Session().as_default()
        default.enforce_nesting = False
        with default as session:
            assert ops.get_default_session() is session
