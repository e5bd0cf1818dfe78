"""TransformGraph: the graphs that come out compute what came in; what becomes of nodes is as TensorFlow 1.15 has it."""
import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.tools.graph_transforms import TransformGraph, parse_transforms

X = np.random.RandomState(0).randn(2, 6, 6, 3).astype(np.float32)


def run(graph_def, feeds, fetch):
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.import_graph_def(graph_def, name="")
        return sess.run(graph.get_tensor_by_name(fetch + ":0"), {name + ":0": v for name, v in feeds.items()})


def names(graph_def):
    return {node.name: node.op for node in graph_def.node}


def built(build):
    with tf.Graph().as_default() as graph:
        build()
        return graph.as_graph_def()


def weights(*shape):
    return tf.constant(np.random.RandomState(1).randn(*shape).astype(np.float32), name="weights")


@pytest.mark.parametrize("text, expected", [
    ("", []), ("  a b ", [("a", {}), ("b", {})]), ("a(x=1)b", [("a", {"x": ["1"]}), ("b", {})]),
    ('a(x="1, 2", y=c/d, y=-3.5) b()', [("a", {"x": ["1, 2"], "y": ["c/d", "-3.5"]}), ("b", {})])])
def test_parsing(text, expected):
    assert parse_transforms(text) == expected


@pytest.mark.parametrize("text, words", [
    ("(x=1)", "Looking for transform name"), ("a(x)", "Looking for parameter name"), ("a(x=1", "parameter name"),
    ("nothing_such", "not recognized"), ("remove_nodes", "at least one 'op'"),
    ("rename_op(old_op_name=A)", "expects exactly one"), ("remove_nodes(op=A, max_inputs=b)", "as a number"),
    ("set_device(if_default=maybe)", "as a boolean"), ("fold_constants", "Input node none not found"),
    ("strip_unused_nodes", "Input node none not found")])
def test_bad_transforms(text, words):
    graph_def = built(lambda: tf.identity(tf.constant(1.0)))
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        TransformGraph(graph_def, [], ["none"], [text])


def test_errors_may_be_ignored():
    graph_def = built(lambda: tf.constant(1.0, name="c"))
    assert TransformGraph(graph_def, [], ["none"], ["strip_unused_nodes(ignore_errors=true)"]) == graph_def


def test_strip_unused_nodes():
    def build():
        x = tf.identity(tf.placeholder(tf.float32, [2], name="feed"), name="x")
        tf.add(tf.add(x, 1.0, name="y"), 1.0, name="later")

    stripped = TransformGraph(built(build), ["x"], ["y"], ['strip_unused_nodes(type=float, shape="2")'])
    assert names(stripped) == {"x": "Placeholder", "y/y": "Const", "y": "Add"}
    assert run(stripped, {"x": [1, 2]}, "y").tolist() == [2, 3]
    typed = TransformGraph(built(build), ["x"], ["y"], [
        'strip_unused_nodes(name=x, type_for_name=half, name=x, type_for_name=int32)'])
    assert typed.node[0].attr["dtype"].type == tf.int32.as_datatype_enum
    with pytest.raises(tf.errors.InvalidArgumentError, match="type argument 'none'"):
        TransformGraph(built(build), ["x"], ["y"], ["strip_unused_nodes(type=none)"])


def test_remove_nodes():
    def build():
        x = tf.placeholder(tf.float32, [], name="x")
        split = tf.unstack(tf.stack([x, x * 2]), name="split")
        with tf.control_dependencies([tf.identity(tf.identity(split[1]), name="i")]):
            less = tf.subtract(x, 1.0, name="less")
        tf.identity(tf.add(tf.check_numerics(split[1], "", name="check"), tf.identity(less)), name="y")

    made = TransformGraph(built(build), ["x"], ["y"], ["remove_nodes(op=Identity, op=CheckNumerics)"])
    assert [node.name for node in made.node if node.op in ("Identity", "CheckNumerics")] == ["y"]
    inputs = {node.name: list(node.input) for node in made.node}
    assert ["split:1", "less"] in inputs.values() and inputs["less/y"] == ["^split"]
    assert run(made, {"x": 3}, "y") == 8


def test_fold_constants():
    def build():
        x = tf.placeholder_with_default(tf.zeros([2, 3]), [2, 3], name="x")
        two = tf.sqrt(tf.constant(4.0), name="two")
        parts = tf.split(tf.range(4.0) * two, 2)
        random = tf.random_uniform([], name="random")
        tf.add(tf.reshape(x, tf.shape(x)[::-1]) * two + parts[1][1], 0.0 * random, name="y")
        tf.identity(x, name="unused")

    made = TransformGraph(built(build), ["x"], ["y"], ["fold_constants(ignore_errors=false)"])
    ops = names(made)
    assert ops["x"] == "Placeholder" and ops["two"] == "Const" and "unused" not in ops
    assert not set(ops.values()) & {"Sqrt", "Split", "Shape", "StridedSlice", "Range"}
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(run(made, {"x": x}, "y"), x.reshape(3, 2) * 2 + 6)
    kept = names(TransformGraph(built(build), ["x"], ["y"], ["fold_constants(exclude_op=Sqrt, exclude_node=none)"]))
    assert kept["two"] == "Sqrt"
    small = names(TransformGraph(built(build), ["x"], ["y"], ["fold_constants(max_constant_size_in_bytes=1)"]))
    assert small["two"] == "Sqrt"
    with pytest.raises(tf.errors.InvalidArgumentError, match="'two' was expected to be a Placeholder"):
        TransformGraph(built(build), ["x", "two"], ["y"], ["fold_constants"])


@pytest.mark.parametrize("kind", ["conv", "depthwise", "matmul"])
def test_fold_batch_norms(kind):
    def build():
        x = tf.placeholder(tf.float32, X.shape if kind != "matmul" else [4, 3], name="x")
        y = tf.nn.conv2d(x, weights(3, 3, 3, 4), [1, 1, 1, 1], "SAME") if kind == "conv" else \
            tf.nn.depthwise_conv2d(x, weights(3, 3, 3, 2), [1, 1, 1, 1], "SAME") if kind == "depthwise" else \
            tf.matmul(x, weights(3, 5))
        tf.multiply(y, tf.constant(np.arange(1, y.shape[-1].value + 1, dtype=np.float32)), name="y")

    before = built(build)
    made = TransformGraph(before, ["x"], ["y"], ["fold_constants", "fold_batch_norms"])
    assert "Mul" not in names(made).values()
    x = X if kind != "matmul" else X.reshape(-1, 3)[:4]
    np.testing.assert_allclose(run(made, {"x": x}, "y"), run(before, {"x": x}, "y"), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["plain", "atrous", "concat"])
def test_fold_old_batch_norms(kind):
    def build():
        x = tf.placeholder(tf.float32, X.shape, name="x")
        w = weights(3, 3, 3, 4)
        y = tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME", name="conv")
        if kind == "atrous":
            inner = tf.nn.conv2d(tf.space_to_batch_nd(x, [2, 2], [[2, 2], [2, 2]]), w, [1, 1, 1, 1], "VALID")
            y = tf.batch_to_space_nd(inner, [2, 2], [[0, 0], [0, 0]])
        if kind == "concat":
            y = tf.concat([y, tf.nn.conv2d(x, tf.ones([3, 3, 3, 2]), [1, 1, 1, 1], "SAME")], 3)
        n = y.shape[-1].value
        scale, offset, mean, variance = (tf.constant(np.linspace(low, 2, n, dtype=np.float32))
                                         for low in (1, -1, 0, .5))
        tf.nn.fused_batch_norm(y, scale, offset, mean, variance, is_training=False, name="y")

    before = TransformGraph(built(build), ["x"], ["y"], ["fold_constants"])
    made = TransformGraph(before, ["x"], ["y"], ["fold_old_batch_norms"])
    assert not any("BatchNorm" in op for op in names(made).values()) and "BiasAdd" in names(made).values()
    np.testing.assert_allclose(run(made, {"x": X}, "y"), run(before, {"x": X}, "y"), rtol=1e-4, atol=1e-4)


def test_flatten_atrous_conv():
    def build():
        x = tf.placeholder(tf.float32, X.shape, name="x")
        inner = tf.nn.conv2d(tf.space_to_batch_nd(x, [2, 2], [[2, 2], [2, 2]]), weights(3, 3, 3, 4), [1, 1, 1, 1],
                             "VALID")
        tf.batch_to_space_nd(inner, [2, 2], [[0, 0], [0, 0]], name="y")

    made = TransformGraph(built(build), ["x"], ["y"], ["flatten_atrous_conv", "strip_unused_nodes"])
    assert set(names(made).values()) == {"Placeholder", "Const", "Conv2D"}
    np.testing.assert_allclose(run(made, {"x": X}, "y"), run(built(build), {"x": X}, "y"), rtol=1e-4, atol=1e-4)


def test_weights():
    def build():
        x = tf.placeholder(tf.float32, [1, 40], name="x")
        tf.matmul(x, weights(40, 30), name="y")

    before, x = built(build), np.ones([1, 40])
    rounded = TransformGraph(before, ["x"], ["y"], ["round_weights(num_steps=50)"])
    values = tf.make_ndarray(next(node for node in rounded.node if node.name == "weights").attr["value"].tensor)
    exact = np.random.RandomState(1).randn(40, 30).astype(np.float32)
    assert len(np.unique(values)) <= 51 and np.abs(values - exact).max() <= (exact.max() - exact.min()) / 49
    quantized = TransformGraph(before, ["x"], ["y"], ["quantize_weights"])
    ops = names(quantized)
    assert ops["weights"] == "Dequantize" and ops["weights_quantized_const"] == "Const"
    np.testing.assert_allclose(run(quantized, {"x": x}, "y"), run(before, {"x": x}, "y"), atol=.5)
    np.testing.assert_allclose(run(quantized, {"x": x}, "weights"), exact, atol=.02)
    assert names(TransformGraph(before, ["x"], ["y"], ["quantize_weights(minimum_size=1201)"])) == names(before)


def test_names_and_attributes():
    def build():
        x = tf.placeholder(tf.float32, [2], name="x")
        with tf.device("/cpu:0"), tf.control_dependencies([tf.no_op(name="nothing")]):
            tf.add(tf.concat([x, x], 0, name="joined"), tf.concat([x, x], 0), name="y")

    before = built(build)

    def transformed(*transforms):
        return TransformGraph(before, ["x"], ["y"], list(transforms))

    assert {node.device for node in transformed("remove_device").node} == {""}
    assert {node.device for node in transformed("set_device(device=/a, if_default=true)").node} == {
        "/a", "/device:CPU:0"}
    assert "^nothing" not in [t for node in transformed("remove_control_dependencies").node for t in node.input]
    assert "T" not in next(n for n in transformed("remove_attribute(attribute_name=T, op_name=Add)").node
                           if n.name == "y").attr
    renamed = transformed("rename_attribute(old_attribute_name=T, new_attribute_name=U)",
                          "rename_op(old_op_name=Add, new_op_name=AddV2)")
    assert "U" in renamed.node[-1].attr and names(renamed)["y"] == "AddV2"
    merged = transformed("remove_control_dependencies", "merge_duplicate_nodes")
    assert sorted(names(merged).values()).count("ConcatV2") == 1
    assert run(merged, {"x": [1, 2]}, "y").tolist() == [2, 4, 2, 4]
    hidden = transformed("obfuscate_names")
    assert {"x", "y"} < set(names(hidden)) and all(len(name) == 1 for name in names(hidden))
    assert run(hidden, {"x": [1, 2]}, "y").tolist() == [2, 4, 2, 4]
    old = transformed("backport_concatv2")
    assert run(old, {"x": [1, 2]}, "y").tolist() == [2, 4, 2, 4] and "Concat" in names(old).values()
    backwards = type(before)()
    backwards.node.extend(reversed(before.node))
    in_order = [node.name for node in TransformGraph(backwards, ["x"], ["y"], ["sort_by_execution_order"]).node]
    assert in_order.index("x") < in_order.index("joined") < in_order.index("y")
    bare = transformed("remove_attribute(attribute_name=Tidx)", "add_default_attributes")
    assert next(n for n in bare.node if n.name == "joined").attr["Tidx"].type == tf.int32.as_datatype_enum


def test_tensor_arrays():
    def build():
        x = tf.placeholder(tf.float32, [2], name="x")
        tf.identity(tf.TensorArray(tf.float32, 2).unstack(x).stack(), name="y")

    old = TransformGraph(built(build), ["x"], ["y"], [
        "remove_attribute(attribute_name=identical_element_shapes)", "backport_tensor_array_v3"])
    assert not any(op.endswith("V3") for op in names(old).values())
    old.versions.producer = 20  # the second version is of graphs of old
    assert run(old, {"x": [1, 2]}, "y").tolist() == [1, 2]


@pytest.mark.parametrize("transform, op, fused, inputs", [
    ("fuse_pad_and_conv", "FusedPadConv2D", "padded", ["x", "pad/paddings", "weights"]),
    ("fuse_resize_and_conv", "FusedResizeAndPadConv2D", "resized",
     ["x", "resize/size", "resized_dummy_paddings", "weights"]),
    ("fuse_resize_pad_and_conv", "FusedResizeAndPadConv2D", "both",
     ["x", "resize_2/size", "pad_2/paddings", "weights"])])
def test_what_comes_before_a_convolution_is_fused_with_it(transform, op, fused, inputs):
    def build():
        x, w = tf.placeholder(tf.float32, [1, 6, 6, 3], name="x"), weights(3, 3, 3, 2)
        paddings = [[0, 0], [1, 1], [2, 2], [0, 0]]
        tf.nn.conv2d(tf.pad(x, paddings, "SYMMETRIC", name="pad"), w, [1, 2, 1, 1], "VALID", name="padded")
        tf.nn.conv2d(tf.image.resize_bilinear(x, [9, 8], name="resize"), w, [1, 1, 1, 1], "SAME", name="resized")
        larger = tf.image.resize_bilinear(x, [9, 8], align_corners=True, name="resize_2")
        tf.nn.conv2d(tf.pad(larger, paddings, "REFLECT", name="pad_2"), w, [1, 1, 1, 1], "VALID", name="both")

    graph_def, outputs = built(build), ["padded", "resized", "both"]
    result = TransformGraph(graph_def, ["x"], outputs, [transform])
    node, = [node for node in result.node if node.name == fused]
    assert node.op == op and list(node.input) == inputs and len(result.node) <= len(graph_def.node)
    for name in outputs:
        np.testing.assert_allclose(run(result, {"x": X[:1]}, name), run(graph_def, {"x": X[:1]}, name), rtol=1e-4,
                                   atol=1e-5)
    read = TransformGraph(graph_def, ["x"], outputs + ["pad", "pad_2", "resize", "resize_2"], [transform])
    assert names(read) == names(graph_def)  # what is asked for stays
