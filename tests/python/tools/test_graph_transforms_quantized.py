"""Transforms of TransformGraph that make 8-bit ops, prints and tables: nodes are those of TensorFlow 1.15.5."""
import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.tools.graph_transforms import TransformGraph

X = np.random.RandomState(0).rand(1, 8, 8, 3).astype(np.float32)


def built(build):
    with tf.Graph().as_default() as graph:
        build()
        return graph.as_graph_def()


def run(graph_def, feeds, first=None):
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(graph_def, name="")
        if first:
            sess.run(first)
        return sess.run("y:0", feeds)


def lines(graph_def):
    return {f"{node.name} = {node.op}({', '.join(t[:-2] if t.endswith(':0') else t for t in node.input)})"
            for node in graph_def.node}


def weights(seed, *shape):
    return tf.constant(np.random.RandomState(seed).randn(*shape).astype(np.float32))


def network(trained):
    x = tf.placeholder(tf.float32, [1, 8, 8, 3], name="x")
    y = tf.nn.max_pool(tf.nn.relu(tf.nn.conv2d(x, weights(1, 3, 3, 3, 4), [1, 1, 1, 1], "SAME")),
                       [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    y = tf.fake_quant_with_min_max_vars(y, tf.constant(0.), tf.constant(6.)) if trained else y
    y = tf.nn.bias_add(y, weights(2, 4))
    tf.identity(tf.fake_quant_with_min_max_vars(y, tf.constant(-4.), tf.constant(7.)) if trained else y, name="y")


def quantized_input(op, name):
    at = f"{op}_eightbit/{name}"
    return {f"{at}/reshape_dims = Const(^{name})", f"{at}/reduction_dims = Const(^{name})",
            f"{at}/reshape = Reshape({name}, {at}/reshape_dims)",
            f"{at}/min = Min({at}/reshape, {at}/reduction_dims)", f"{at}/max = Max({at}/reshape, {at}/reduction_dims)",
            f"{at}/quantize = QuantizeV2({name}, {at}/min, {at}/max)"}


def three(name):
    return f"{name}, {name}:1, {name}:2"


def test_quantized_ops_with_trained_ranges():
    graph_def = built(lambda: network(True))
    made = TransformGraph(graph_def, ["x"], ["y"], ["quantize_nodes", "strip_unused_nodes"])
    fake = "FakeQuantWithMinMaxVars"
    assert lines(made) == {
        "x = Placeholder()", *(f"Const{number} = Const()" for number in ("", "_1", "_2", "_3", "_4", "_5")),
        *quantized_input("Conv2D", "x"), *quantized_input("Conv2D", "Const"), *quantized_input("BiasAdd", "Const_3"),
        "Conv2D/eightbit = QuantizedConv2D(Conv2D_eightbit/x/quantize, Conv2D_eightbit/Const/quantize, "
        "Conv2D_eightbit/x/quantize:1, Conv2D_eightbit/x/quantize:2, Conv2D_eightbit/Const/quantize:1, "
        "Conv2D_eightbit/Const/quantize:2)",
        f"{fake}_hoisted_eightbit/requantize = Requantize({three('Conv2D/eightbit')}, Const_1, Const_2)",
        f"Relu/eightbit = QuantizedRelu({three(fake + '_hoisted_eightbit/requantize')})",
        f"{fake}/eightbit = QuantizedMaxPool({three('Relu/eightbit')})",
        f"BiasAdd/eightbit = QuantizedBiasAdd({fake}/eightbit, BiasAdd_eightbit/Const_3/quantize, {fake}/eightbit:1, "
        f"{fake}/eightbit:2, BiasAdd_eightbit/Const_3/quantize:1, BiasAdd_eightbit/Const_3/quantize:2)",
        f"{fake}_1_eightbit/requantize = Requantize({three('BiasAdd/eightbit')}, Const_4, Const_5)",
        f"{fake}_1 = Dequantize({three(fake + '_1_eightbit/requantize')})", f"y = Identity({fake}_1)"}
    np.testing.assert_allclose(run(made, {"x:0": X}), run(graph_def, {"x:0": X}), atol=0.15)


@pytest.mark.parametrize("given", ["", "(fallback_min=-12, fallback_max=12)", "(ignore_op=Conv2D)"])
def test_quantized_ops_with_measured_and_given_ranges(given):
    graph_def = built(lambda: network(False))
    made = TransformGraph(graph_def, ["x"], ["y"], ["quantize_nodes" + given, "strip_unused_nodes"])
    ops = [node.op for node in made.node]
    assert ops.count("RequantizationRange") == (0 if "fallback" in given else 1 if "ignore" in given else 2)
    assert ("Conv2D" in ops) == ("ignore" in given) and ops.count("Dequantize") == 1
    np.testing.assert_allclose(run(made, {"x:0": X}), run(graph_def, {"x:0": X}), atol=0.35)


def test_placeholders_of_8_bits():
    graph_def = built(lambda: network(False))
    made = TransformGraph(graph_def, ["x"], ["y"], ["quantize_nodes(input_min=0, input_max=1)", "strip_unused_nodes"])
    given = np.round(X * 255).astype(np.uint8)
    np.testing.assert_allclose(run(made, {"x:0": given}), run(graph_def, {"x:0": given / 255.}), atol=0.35)
    with pytest.raises(tf.errors.InvalidArgumentError, match="You must pass both input_min and input_max"):
        TransformGraph(graph_def, ["x"], ["y"], ["quantize_nodes(input_min=0)"])


def test_ranges_that_were_logged(tmp_path):
    log, name = tmp_path / "log.txt", "Conv2D/eightbit/requant_range"
    log.write_text("".join(f"line;{name}__print__;__requant_min_max:[{-10 - k / 10}][{12 + k / 7}]\n"
                           for k in range(40)) + "bad;x__print__;__requant_min_max:[a][2]\n")
    quantized = TransformGraph(built(lambda: network(False)), ["x"], ["y"], ["quantize_nodes", "strip_unused_nodes"])
    transform = f'freeze_requantization_ranges(min_max_log_file="{log}")'
    made = {node.name: node for node in TransformGraph(quantized, ["x"], ["y"], [transform]).node}
    assert name not in made and list(made["Conv2D/eightbit/requantize"].input)[3:] == [
        name + "/frozen_min:0", name + "/frozen_max:0"]
    for word, value in (("min", -13.7), ("max", 12 + 38 / 7)):
        constant = made[f"{name}/frozen_{word}"].attr["value"].tensor
        np.testing.assert_allclose(tf.make_ndarray(constant), value, rtol=1e-6)
    for text, words in (("freeze_requantization_ranges", "must pass a file name"), (transform, "aren't present")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            TransformGraph(built(lambda: network(False)), ["x"], ["y"], [text])


def test_logging(capfd):
    def build():
        x = tf.placeholder(tf.float32, [3], name="x")
        a, b = tf.split(tf.concat([x, x], 0), 2)
        tf.add(a, b, name="y")

    made = TransformGraph(built(build), ["x"], ["y"], [
        'insert_logging(op=ConcatV2, op=Split, show_op=true, show_name=true, message="__m:", first_n=2)'])
    assert {"concat__print__ = Print(concat, concat)", "split = Split(split/split_dim, concat__print__)",
            "split__print__ = Print(split, split, split:1)", "y = Add(split__print__, split:1)"} <= lines(made)
    assert run(made, {"x:0": [1, 2, 3]}).tolist() == [2, 4, 6]
    assert capfd.readouterr().err.splitlines()[-2:] == [
        ";ConcatV2;;concat__print__;__m:[1 2 3 1 2 3]", ";Split;;split__print__;__m:[1 2 3][1 2 3]"]
    made = TransformGraph(built(build), ["x"], ["y"], ["insert_logging(prefix=con)"])
    assert [node.name for node in made.node if node.op == "Print"] == ["concat/axis__print__", "concat__print__"]


COLUMN = np.zeros([10, 1], np.float32)
COLUMN[[3, 7]] = [[2], [-1]]


def test_sparse_weights():
    def build(value):
        read = tf.identity(tf.constant(value, name="w"), name="w/read")
        tf.identity(tf.gather(read, tf.placeholder(tf.int64, [None], name="x"), name="g"), name="y")

    made = TransformGraph(built(lambda: build(COLUMN)), ["x"], ["y"], ["sparsify_gather"])
    assert lines(made) == {
        "x = Placeholder()", "w/indices = Const()", "w/values = Const()", "w/HashTable = HashTable()",
        "w/InitializeTable = InitializeTable(w/HashTable, w/indices, w/values)",
        "group_deps = NoOp(^w/InitializeTable)",
        "g/Const = Const()", "g/LookupTableFind = LookupTableFind(w/HashTable, x, g/Const)",
        "g/ExpandDims/Const = Const()", "g = ExpandDims(g/LookupTableFind, g/ExpandDims/Const)", "y = Identity(g)"}
    assert run(made, {"x:0": [1, 3, 7]}, "group_deps").tolist() == [[0], [2], [-1]]
    with pytest.raises(tf.errors.FailedPreconditionError, match=r"But instead get shape \[4,2\]"):
        TransformGraph(built(lambda: build(np.ones([4, 2], np.float32))), ["x"], ["y"], ["sparsify_gather"])


def test_sparse_weights_of_a_checkpoint(tmp_path):
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        variable = tf.get_variable("w", initializer=COLUMN, use_resource=False)
        tf.identity(tf.gather(variable, tf.placeholder(tf.int64, [None], name="x"), name="g"), name="y")
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, str(tmp_path / "model"))
        graph_def = graph.as_graph_def()
    made = TransformGraph(graph_def, ["x"], ["y"], [
        f'sparsify_gather(input_checkpoint="{path}", group_init_node=fill)'])
    assert not {node.op for node in made.node} & {"VariableV2", "Assign", "GatherV2"}
    assert run(made, {"x:0": [1, 3, 7]}, "fill").tolist() == [[0], [2], [-1]]
    with pytest.raises(tf.errors.InternalError, match="Checkpoint reader was not initialized"):
        TransformGraph(graph_def, ["x"], ["y"], ["sparsify_gather"])
