"""Names, scopes, devices, control dependencies, collections: the expected values are those of TensorFlow 1.15.5."""
import numpy as np
import pytest

from penstock._src.session import session
from penstock._src.graph import dtypes, gen, ops, tensor_util
from penstock._src.function import importer
from penstock._src.graph.constant_op import constant_v1 as constant
from penstock._src.graph.tensor import Tensor


@pytest.fixture(autouse=True)
def graph():
    with ops.Graph().as_default() as g:
        yield g


def names(graph):
    return [op.name for op in graph.get_operations()]


def test_names_are_unique_without_regard_to_case(graph):
    for name in ("a", "A", "a", "a_1", "a"):
        constant(1, name=name)
    assert names(graph) == ["a", "A_1", "a_2", "a_1_1", "a_3"]


def test_name_scopes(graph):
    with ops.name_scope("s") as scope:
        assert scope == "s/"
        constant(1)
        with ops.name_scope("t"):
            constant(1, name="c")
    with ops.name_scope("s") as again:
        assert again == "s_1/"
    with ops.name_scope(scope):
        constant(1)
        with ops.name_scope(None):
            constant(2)
    assert names(graph) == ["s/Const", "s/t/c", "s/Const_1", "Const"]
    with pytest.raises(ValueError, match="is not a valid scope name"):
        graph.name_scope("a b").__enter__()


def test_default_name_and_values():
    with ops.name_scope(None, "default", [constant(1)]) as scope:
        assert scope == "default/"
    with pytest.raises(ValueError, match="At least one of name"):
        ops.name_scope(None, None, [constant(1)]).__enter__()
    with pytest.raises(TypeError, match="default_name"):
        ops.name_scope("a", [constant(1)])


def test_inputs_are_converted_inside_of_the_ops_scope(graph):
    gen.add_v2(constant(1.0), 2.0, name="sum")
    assert names(graph) == ["Const", "sum/y", "sum"]


def test_devices_merge_from_the_inside_out():
    with ops.device("/job:a/cpu:0"):
        with ops.device("/task:1"):
            assert constant(1).device == "/job:a/task:1/device:CPU:0"
            with ops.device("/gpu:2"):
                assert constant(1).device == "/job:a/task:1/device:GPU:2"
            with ops.device(None):
                assert constant(1).device == ""
    assert constant(1).device == ""


def test_device_functions_see_the_operation():
    seen = []

    def choose(op):
        seen.append((op.type, op.device))
        return "/job:ps/task:1" if op.type == "Const" else op.device

    with ops.device(choose), ops.device("/cpu:1"):
        assert constant(1).device == "/job:ps/task:1"
        assert gen.identity(constant(1)).device == "/device:CPU:1"
    assert seen[0] == ("Const", "/device:CPU:1")


def test_control_dependencies():
    a, b = constant(1, name="a"), constant(2, name="b")
    with ops.control_dependencies([a]):
        c = gen.identity(b)
        d = gen.identity(c)      # c runs after a already
        e = gen.identity(a)      # a data edge is enough
        with ops.control_dependencies([b.op]):
            f = constant(3)
        with ops.control_dependencies(None):
            g = constant(4)
    assert c.op.control_inputs == [a.op] and d.op.control_inputs == [] and e.op.control_inputs == []
    assert f.op.control_inputs == [a.op, b.op] and g.op.control_inputs == []
    with pytest.raises(TypeError, match="Can not convert a float into"):
        ops.control_dependencies([1.0])


def test_colocation():
    with ops.device("/cpu:1"):
        a = constant(1, name="a")
    with ops.device("/gpu:0"), ops.colocate_with(a):
        b = constant(2)
    assert b.op.colocation_groups() == [b"loc:@a"] and b.device == "/device:CPU:1"
    assert a.op.colocation_groups() == [b"loc:@a"]
    with ops.colocate_with(a.op), ops.colocate_with(None, ignore_existing=True):
        assert constant(3, name="c").op.colocation_groups() == [b"loc:@c"]


def test_kernel_labels_gradient_overrides_and_containers(graph):
    with graph._kernel_label_map({"Identity": "special"}), graph.gradient_override_map({"Identity": "Mine"}):
        op = gen.identity(constant(1)).op
    assert op.get_attr("_kernel") == b"special" and op.get_attr("_gradient_op_type") == b"Mine"
    with pytest.raises(ValueError):
        gen.identity(constant(1)).op.get_attr("_kernel")
    with pytest.raises(TypeError, match="mapping strings to strings"):
        graph.gradient_override_map({"Identity": 3}).__enter__()
    with graph.container("box"):
        assert gen.variable_v2(shape=[], dtype=dtypes.float32).op.get_attr("container") == b"box"


def test_finding_elements(graph):
    a = constant(1, name="a")
    assert graph.get_tensor_by_name("a:0") is a and graph.get_operation_by_name("a") is a.op
    assert graph.as_graph_element("a:0") is a and graph.as_graph_element("a") is a.op
    for name, error, text in [("b:0", KeyError, "does not exist"), ("a:1", KeyError, "only has 1 outputs"),
                              ("a:b", ValueError, "looks a like a Tensor name"), ("b", KeyError, "not in the graph")]:
        with pytest.raises(error, match=text):
            graph.as_graph_element(name)
    with pytest.raises(ValueError, match="refers to an Operation, not a Tensor"):
        graph.get_tensor_by_name("a")
    with pytest.raises(ValueError, match="appears to refer to a Tensor, not a Operation"):
        graph.get_operation_by_name("a:0")
    with pytest.raises(TypeError, match="Can not convert a int into a Tensor or Operation"):
        graph.as_graph_element(3)
    with ops.Graph().as_default() as other:
        with pytest.raises(ValueError, match="not an element of this graph"):
            other.as_graph_element(a)


def test_inputs_must_be_of_one_graph():
    a = constant(1)
    with ops.Graph().as_default():
        b = constant(2)
        with pytest.raises(ValueError, match="must be from the same graph"):
            gen.add_v2(a, b)


def test_a_finalized_graph_cannot_grow(graph):
    graph.finalize()
    with pytest.raises(RuntimeError, match="finalized"):
        constant(1)
    with pytest.raises(RuntimeError, match="finalized"):
        graph.add_to_collection("k", 1)


def test_collections(graph):
    a, b = constant(1, name="x/a"), constant(2, name="y/b")
    ops.add_to_collection("k", a)
    ops.add_to_collections(["k", "l"], b)
    assert ops.get_collection("k") == [a, b] and ops.get_collection("l") == [b] and ops.get_collection("m") == []
    assert ops.get_collection("k", scope="x") == [a]
    ops.get_collection_ref("m").append(3)
    assert ops.get_collection("m") == [3] and sorted(graph.get_all_collection_keys()) == ["k", "l", "m"]
    graph.clear_collection("k")
    assert ops.get_collection("k") == []


def test_shapes(graph):
    x = gen.placeholder(dtypes.float32, shape=[None, 3])
    assert x.shape.as_list() == [None, 3]
    x.set_shape([2, None])
    assert x.shape.as_list() == [2, 3]
    with pytest.raises(ValueError):
        x.set_shape([4, 3])


def test_tensors_refuse_what_needs_a_value():
    x = constant([1, 2])
    with pytest.raises(TypeError, match="as a Python `bool`"):
        bool(x)
    with pytest.raises(TypeError, match="iterating"):
        list(x)
    with pytest.raises(TypeError, match="len is not well defined"):
        len(x)
    with pytest.raises(NotImplementedError, match="Cannot convert a symbolic Tensor"):
        np.asarray(x)
    assert x == x and x != constant(1) and len({x, x}) == 1


def test_attributes():
    op = gen.conv2d(gen.placeholder(dtypes.float32), gen.placeholder(dtypes.float32), [1, 2, 2, 1], "SAME").op
    assert op.get_attr("T") is dtypes.float32 and op.get_attr("strides") == [1, 2, 2, 1]
    assert op.get_attr("padding") == b"SAME" and op.get_attr("use_cudnn_on_gpu") is True
    assert op.node_def.attr["padding"].s == b"SAME" and op.op_def.name == "Conv2D"
    with pytest.raises(ValueError, match="has no attr named 'bogus'"):
        op.get_attr("bogus")


def test_the_traceback_names_the_line_that_built_the_operation():
    op = constant(1).op
    frames = [f for f in op.traceback if f[0] == __file__]
    assert frames[-1][2] == "test_the_traceback_names_the_line_that_built_the_operation"
    assert "op = constant(1).op" in frames[-1][3]


def test_graph_def_round_trip(graph):
    with ops.device("/cpu:0"):
        a = constant([1.0, 2.0], name="a")
    gen.add_v2(a, a, name="sum")
    graph_def = graph.as_graph_def()
    assert [(n.name, n.op, list(n.input), n.device) for n in graph_def.node] == [
        ("a", "Const", [], "/device:CPU:0"), ("sum", "AddV2", ["a", "a"], "")]
    assert graph_def.versions.producer == 134
    from penstock._src.function import importer
    with ops.Graph().as_default() as other:
        a2, total = importer.import_graph_def(graph_def, return_elements=["a", "sum:0"])
        assert a2.name == "import/a" and total.name == "import/sum:0" and total.shape.as_list() == [2]
        assert a2.device == "/device:CPU:0"
        again = importer.import_graph_def(graph_def, input_map={"a:0": total}, return_elements=["sum:0"], name="twice")
        assert again[0].op.inputs[0] is total
    with pytest.raises(TypeError, match="must be a GraphDef"):
        importer.import_graph_def("")
    with other.as_default(), pytest.raises(ValueError, match=r"not found in graph_def: \[b:0\]"):
        importer.import_graph_def(graph_def, input_map={"b:0": total})


def test_op_seeds_count_operations(graph):
    from penstock._src.graph import random_seed
    assert random_seed.get_seed(None) == (None, None) and random_seed.get_seed(4) == (87654321, 4)
    random_seed.set_random_seed(7)
    assert random_seed.get_seed(None) == (7, 0)
    constant(1)
    assert random_seed.get_seed(None) == (7, 1) and random_seed.get_seed(2**31) == (7, 1)
    random_seed.set_random_seed(0)
    assert random_seed.get_seed(0) == (0, 2**31 - 1)


def test_conversion_functions(graph):
    class Thing:
        pass

    ops.register_tensor_conversion_function(Thing, lambda value, dtype, name, as_ref: constant(5, name="thing"))
    assert ops.convert_to_tensor(Thing()).op.name == "thing"
    ops.register_tensor_conversion_function(Thing, lambda value, dtype, name, as_ref: 3, priority=0)
    with pytest.raises(RuntimeError, match="returned non-Tensor"):
        ops.convert_to_tensor(Thing())
    with pytest.raises(ValueError, match="Tensor conversion requested dtype int32 for Tensor with dtype float32"):
        ops.convert_to_tensor(constant(1.0), dtype=dtypes.int32)
    assert ops.convert_to_tensor(1, preferred_dtype=dtypes.float32).dtype is dtypes.float32
    assert ops.convert_to_tensor(1.5, preferred_dtype=dtypes.int32).dtype is dtypes.float32


def test_a_colocation_is_remembered_with_its_place():
    with ops.Graph().as_default():
        two = constant(2.0, name="two")
        with ops.colocate_with(two.op):
            three = constant(3.0)
        place, = three.op._colocation_dict.items()
        assert place[0] == "two" and place[1].obj is None and place[1].filename == __file__ and place[1].lineno > 0
        assert two.op._colocation_dict == {}


def test_threads_may_have_scopes_of_their_own():
    import threading
    graph = ops.Graph()
    with graph.as_default():
        target = constant(1.0, name="target")

    def devices():
        found = []

        def build(i, entered, go):
            with graph.device(f"/job:w/task:{i}"), graph.colocate_with(target.op) if i == 2 else graph.name_scope("x"):
                entered.set()
                go.wait(10)
                found.append(graph.create_op("NoOp", [], []))
        threads = []
        for i in range(3):
            entered, go = threading.Event(), threading.Event()
            threads.append((threading.Thread(target=build, args=(i, entered, go)), go))
            threads[-1][0].start()
            entered.wait(10)
        for thread, go in threads:
            go.set()
            thread.join(10)
        return [op.device for op in found], found

    with graph.device("/cpu:1"):
        graph.switch_to_thread_local()
        names, made = devices()
    assert names == ["/job:w/task:0/device:CPU:1", "/job:w/task:1/device:CPU:1", ""]
    assert made[2].colocation_groups() == [b"loc:@target"] and made[1].colocation_groups() != [b"loc:@target"]


def test_scopes_of_odd_names():
    with ops.Graph().as_default():
        with ops.name_scope("foo"):
            for name, full in (("/", "/"), ("//", "//"), ("a//b", "foo/a//b/"), ("", "")):
                with ops.name_scope(name) as scope:
                    assert scope == full
        scope = ops.name_scope_v2("bar")
        with scope as outer, scope as inner:
            assert (outer, inner) == ("bar/", "bar/bar/")
        with pytest.raises(TypeError, match="Can't convert Operation 'op' to Tensor"):
            ops.convert_to_tensor(gen.no_op(name="op"))


def test_resources_are_found_in_collections():
    from penstock._src.session.session import Session
    from penstock._src.ops.state import resources
    with ops.Graph().as_default():
        ready, made = constant(False), gen.no_op(name="make")
        resources.register_resource(constant(1, name="handle"), made, ready)
        resources.register_resource(constant(2), made, constant(True), is_shared=False)
        assert [len(resources.shared_resources()), len(resources.local_resources())] == [1, 1]
        report = resources.report_uninitialized_resources()
        assert resources.initialize_resources(resources.shared_resources()).control_inputs == [made]
        with Session() as sess:
            assert sess.run(report).tolist() == [b"handle:0"]
            assert sess.run(resources.report_uninitialized_resources([])).tolist() == []


def test_imported_operations_lie_where_their_group_does():
    from google.protobuf import text_format
    from penstock import proto
    from penstock._src.function import importer
    nodes = "".join(f"node {{ name: '{n}' op: 'NoOp' {d} attr {{ key: '_class' value {{ list {{ s: 'loc:@A' }} }} }} }}"
                    for n, d in (("B", "device: '/device:CPU:1'"), ("A", "DEVICE")))
    for device, expected in (("device: '/device:CPU:0'", "/device:CPU:0"), ("", "")):
        graph_def = text_format.Parse(nodes.replace("DEVICE", device), proto.message("tensorflow.GraphDef")())
        with ops.Graph().as_default():
            b, a = importer.import_graph_def(graph_def, return_elements=["B", "A"], name="")
            assert (a.device, b.device) == (expected, expected) and b.colocation_groups() == [b"loc:@A"]


def test_imported_operations_follow_others_in_turn_and_the_scopes():
    import penstock.v1 as tf
    with tf.Graph().as_default() as graph:
        with tf.device("/cpu:1"):
            tf.no_op(name="a")
        for follower, leader in (("b", "a"), ("c", "b")):
            with tf.device("/cpu:2"), tf.get_default_graph().colocate_with(graph.get_operation_by_name(leader)):
                tf.no_op(name=follower)
        tf.no_op(name="d")
    graph_def = graph.as_graph_def()
    for node in graph_def.node:
        node.device = {"a": "/device:CPU:1", "b": "/cpu:3", "c": "/cpu:3"}.get(node.name, "")
        if node.name == "c":
            node.attr["_class"].list.s[:] = [b"loc:@b"]
    with tf.Graph().as_default() as graph, tf.device(lambda op: op.device or "/cpu:4"):
        tf.import_graph_def(graph_def, name="")
        assert {op.name: op.device for op in graph.get_operations()} == {
            "a": "/device:CPU:1", "b": "/device:CPU:1", "c": "/device:CPU:1", "d": "/cpu:4"}
    with tf.Graph().as_default() as graph:
        target = tf.no_op(name="target")
        with graph.colocate_with(target):
            tf.import_graph_def(graph_def, name="x")
        assert graph.get_operation_by_name("x/d").colocation_groups() == [b"loc:@target"]


@pytest.mark.parametrize("fails", [False, True])
def test_an_import_fills_in_the_defaults_of_the_callers_message(fails):
    import penstock.v1 as tf
    graph_def = tf.GraphDef()
    graph_def.node.add(name="p", op="Placeholder").attr["dtype"].type = 1
    graph_def.node.add(name="v", op="VarHandleOp").attr["dtype"].type = 1
    graph_def.node[1].attr["shape"].shape.SetInParent()
    graph_def.node.add(name="v2", op="VarHandleOp").CopyFrom(graph_def.node[1])
    graph_def.node[2].name, graph_def.node[2].attr["container"].s = "w", b"c"
    with tf.Graph().as_default():
        tf.no_op(name="before")
        if fails:
            graph_def.node.add(name="bad", op="ThereIsNoSuchOp")
            with pytest.raises((ValueError, tf.errors.NotFoundError), match="ThereIsNoSuchOp"):
                tf.import_graph_def(graph_def)
        else:
            tf.import_graph_def(graph_def)
    p, v, w = graph_def.node[:3]
    assert p.attr["shape"].shape.unknown_rank
    assert sorted(v.attr) == ["container", "dtype", "shape", "shared_name"] == sorted(w.attr)
    assert (v.attr["container"].s, w.attr["container"].s) == (b"", b"c")


def test_scalar_placeholders_of_old_graphs_take_any_shape():
    import penstock.v1 as tf
    with tf.Graph().as_default() as graph:
        tf.placeholder(tf.float32, [], name="x") + 1.0
    for producer, shape in ((21, None), (22, [])):
        graph_def = graph.as_graph_def()
        graph_def.versions.producer = producer
        with tf.Graph().as_default(), tf.Session() as sess:
            x, y = tf.import_graph_def(graph_def, return_elements=["x:0", "add:0"])
            assert x.shape.ndims is None if shape is None else x.shape.as_list() == shape
            if shape is None:
                assert sess.run(y, {x: [1.0, 2.0]}).tolist() == [2.0, 3.0]


def test_an_import_fills_in_the_defaults_of_the_callers_nodes():
    """As 1.15.5, and no attributes that it does not know."""
    import penstock.v1 as tf
    graph_def = tf.GraphDef()
    node = graph_def.node.add(name="a", op="Placeholder")
    node.attr["dtype"].type = tf.float32.as_datatype_enum
    node = graph_def.node.add(name="b", op="MatMul", input=["a", "a"])
    node.attr["T"].type = tf.float32.as_datatype_enum
    node.attr["_mine"].i = 3
    with tf.Graph().as_default():
        tf.import_graph_def(graph_def)
    assert graph_def.node[0].attr["shape"].shape.unknown_rank
    assert sorted(graph_def.node[1].attr) == ["T", "_mine", "transpose_a", "transpose_b"]


def test_a_tensor_is_of_an_operation():
    with pytest.raises(TypeError, match="op needs to be an Operation: 'add'"):
        Tensor("add", 0, dtypes.float32)


def test_a_graph_that_is_entered_and_forgotten_is_left():
    def enter():
        manager = graph.as_default()
        manager.__enter__()
        return ops.get_default_graph()

    outside, graph = ops.get_default_graph(), ops.Graph()
    assert enter() is graph and ops.get_default_graph() is outside
    graph.as_default().__enter__()
    assert ops.get_default_graph() is outside
    first, second = graph.as_default(), ops.Graph().as_default()
    first.__enter__()
    inner = second.__enter__()
    del first  # not the innermost: it stays
    assert ops.get_default_graph() is inner
    del second
    assert ops.get_default_graph() is graph
    graph.as_default().__exit__(None, None, None)
    with graph.as_default() as manager:
        del manager
        assert ops.get_default_graph() is graph
    assert ops.get_default_graph() is outside


def test_long_constants_of_one_value_are_written_as_that_value(graph):
    values = {"float32": -0.0, "float64": np.nan, "float16": 0.1, "bfloat16": 0.1, "int8": -3, "uint64": 2 ** 63,
              "bool": True, "complex64": 1.5 + 2j, "int4": -3, "float8_e5m2": 2.0}
    constants = {name: constant(np.array(value, dtypes.as_dtype(name).as_numpy_dtype), shape=[40, 50])
                 for name, value in values.items()}
    for value in constants.values():
        assert len(value.op.node_def.SerializeToString()) < 100
    other, short = constant([1.0] * 1999 + [2.0]), constant(1.0, shape=[1000])
    for value in (other, short):  # the bytes are there for whoever reads them
        proto = value.op.get_attr("value")
        assert np.array_equal(np.frombuffer(proto.tensor_content, np.float32), tensor_util.MakeNdarray(proto))
    with ops.Graph().as_default():
        imported = importer.import_graph_def(graph.as_graph_def(), name="", return_elements=[
            value.name for value in constants.values()])
        with session.Session() as sess:
            results = sess.run(imported)
    for (name, value), result in zip(values.items(), results):
        expected = np.full([40, 50], value, dtypes.as_dtype(name).as_numpy_dtype)
        assert result.dtype == expected.dtype and result.tobytes() == expected.tobytes()
