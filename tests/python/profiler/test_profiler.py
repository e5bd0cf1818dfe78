"""tf.profiler: tables and trees compared with those of TensorFlow 1.15 for the same graphs."""
import gzip
import json
import os

import pytest

import penstock.v1 as tf
from penstock import proto

BUILDER = tf.profiler.ProfileOptionBuilder
EVERYTHING = ["params", "float_ops", "occurrence", "op_types", "input_shapes"]


def small_model():
    zeros, image = tf.zeros_initializer(), tf.zeros([2, 6, 6, 3])
    kernel = tf.get_variable("DW", [3, 3, 3, 6], initializer=zeros)
    tf.get_variable("step", [], trainable=False, initializer=zeros)
    with tf.name_scope("a"):
        x = tf.nn.conv2d(image, kernel, [1, 2, 2, 1], padding="SAME")
        x = tf.nn.bias_add(x, tf.get_variable("b", [6], initializer=zeros))
        with tf.name_scope("deep"):
            x = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
            x = tf.matmul(tf.reshape(x, [2, -1]), tf.ones([6, 5]), name="product")
    return tf.reduce_sum(tf.nn.softmax(x), name="y")


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def everything(**changed):
    return BUILDER({**BUILDER.trainable_variables_parameter(), "account_type_regexes": [".*"], "select": EVERYTHING,
                    **changed})


def profile(folder, cmd, builder, **kwargs):
    """(the message, the table below "Profile:")."""
    path = os.path.join(folder, "table")
    message = tf.profiler.profile(cmd=cmd, options=builder.with_file_output(path).build(), **kwargs)
    with open(path) as file:
        documentation, _, table = file.read().partition("Profile:\n")
    assert documentation.startswith("\nDoc:\n")
    return message, table


def test_scopes(tmp_path):
    small_model()
    message, table = profile(tmp_path, "scope", BUILDER(BUILDER.trainable_variables_parameter()))
    assert table == """node name | # parameters
_TFProfRoot (--/168 params)
  DW (3x3x3x6, 162/162 params)
  b (6, 6/6 params)
"""
    assert (message.total_parameters, message.total_definition_count) == (168, 3)
    assert [child.name for child in message.children] == ["DW", "b"]
    names = everything().with_node_names(start_name_regexes=["a.*", "C.*"], hide_name_regexes=[".*deep.*"])
    _, table = profile(tmp_path, "scope", names)
    assert table == """node name | # parameters | # float_ops | op types | op count (run|defined) | input shapes
_TFProfRoot (--/0 params, --/5.94k flops, _kTFScopeParent, --/0|--/5, )
  Const (0/0 params, 0/0 flops, Const, 0/0|1/1, )
  a (0/0 params, 0/5.94k flops, _kTFScopeParent, 0/0|1/3, )
    a/BiasAdd (0/0 params, 108/108 flops, BiasAdd, 0/0|1/1, 0:2x3x3x6|1:6)
    a/Conv2D (0/0 params, 5.83k/5.83k flops, Conv2D, 0/0|1/1, 0:2x6x6x3|1:3x3x3x6)
"""


def test_inputs(tmp_path):
    small_model()
    _, table = profile(tmp_path, "graph", BUILDER(BUILDER.float_operation()))
    assert table == """node name | # float_ops
_TFProfRoot (--/6.17k flops)
  y (9/6.17k flops)
    Softmax (50/6.16k flops)
      a/deep/product (120/6.11k flops)
        a/deep/MaxPool (48/5.99k flops)
          a/BiasAdd (108/5.94k flops)
            a/Conv2D (5.83k/5.83k flops)
"""
    types = everything(account_displayed_op_only=False).with_accounted_types(["MatMul", "VariableV2"])
    _, table = profile(tmp_path, "graph", types)
    assert table == """node name | # parameters | # float_ops | op types | op count (run|defined) | input shapes
_TFProfRoot (--/169 params, --/120 flops, _TFGraphParent, --/0|--/4, )
  DW (3x3x3x6, 162/162 params, 0/0 flops, VariableV2|_trainable_variables, 0/0|1/1, )
  a/deep/product (0/0 params, 120/120 flops, MatMul, 0/0|1/1, 0:2x6|1:6x5)
  b (6, 6/6 params, 0/0 flops, VariableV2|_trainable_variables, 0/0|1/1, )
  step (1, 1/1 params, 0/0 flops, VariableV2, 0/0|1/1, )
"""


def test_a_deep_graph_is_no_deep_recursion(tmp_path):
    x = tf.ones([2])
    for _ in range(3000):
        x = -x
    message = tf.profiler.profile(cmd="graph", options=everything().with_empty_output().build())
    assert message.total_float_ops == 6000


def test_op_types(tmp_path):
    small_model()
    message, table = profile(tmp_path, "op", BUILDER(BUILDER.float_operation()))
    assert table == """node name | # float_ops
Conv2D                   5.83k float_ops (100.00%, 94.57%)
MatMul                     120 float_ops (5.43%, 1.95%)
BiasAdd                    108 float_ops (3.49%, 1.75%)
Softmax                     50 float_ops (1.74%, 0.81%)
MaxPool                     48 float_ops (0.92%, 0.78%)
Sum                          9 float_ops (0.15%, 0.15%)
"""
    totals = []
    while message.children:
        message, = message.children
        totals.append((message.name, message.float_ops, message.total_float_ops, len(message.graph_nodes)))
    assert totals[:2] == [("Conv2D", 5832, 6167, 1), ("MatMul", 120, 335, 1)]
    _, table = profile(tmp_path, "op", everything(select=["occurrence", "input_shapes"]).with_min_occurrence(7))
    assert table == ("node name | op occurrence (run|defined) | input shapes\n"
                     "Const                           0|7\n\n"
                     "input_type: \t(run*0|defined*7)\texec_time: 0us\n\n")


def layer(x):
    return tf.matmul(x, tf.get_variable("w", [4, 5], initializer=tf.zeros_initializer()))


def code_model():
    loss = tf.reduce_sum(layer(tf.ones([3, 4])))
    return tf.gradients(loss, tf.trainable_variables())


def test_lines_of_code(tmp_path):
    code_model()
    options = everything(select=["params", "float_ops"]).with_node_names(show_name_regexes=["test_profiler.*"])
    message, table = profile(tmp_path, "code", options)
    first = code_model.__code__.co_firstlineno
    inside = layer.__code__.co_firstlineno + 1
    rows = [row.strip() for row in table.splitlines()]
    assert f"test_profiler.py:{first + 1}:code_model (0/20 params, 0/134 flops)" in rows
    assert f"test_profiler.py:{inside}:layer (0/20 params, 0/120 flops)" in rows
    assert f"test_profiler.py:{inside}:layer (gradient) (0/0 params, 0/120 flops)" in rows
    assert message.total_parameters == 20
    path = str(tmp_path / "samples.pb.gz")
    tf.profiler.profile(cmd="code", options=options.select(["params"]).with_pprof_output(path).build())
    with gzip.open(path) as file:
        samples = proto.message("tensorflow.tfprof.pprof.Profile").FromString(file.read())
    text = samples.string_table
    assert [text[kind.type] for kind in samples.sample_type] == ["count", "params"]
    found = {text[s.label[0].str]: s for s in samples.sample}["w"]
    assert list(found.value) == [1, 20]
    where = {place.id: place.line[0] for place in samples.location}
    names = {function.id: text[function.name] for function in samples.function}
    innermost = where[found.location_id[0]]
    assert (names[innermost.function_id], innermost.line) == ("test_profiler:layer", first + 1)


def traced(sess, fetches):
    metadata = tf.RunMetadata()
    sess.run(fetches, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    return metadata


def test_steps(tmp_path):
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    y = tf.matmul(x, tf.ones([4, 5]), name="product")
    with tf.Session() as sess:
        profiler = tf.profiler.Profiler(sess.graph)
        for step, rows in enumerate([1000, 2000]):
            metadata = tf.RunMetadata()
            sess.run(y, {x: [[1.0] * 4] * rows}, run_metadata=metadata,
                     options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE))
            profiler.add_step(step, metadata)
    options = everything(select=["micros", "bytes"])

    def product(step):
        tree = profiler.profile_name_scope(options.with_empty_output().with_step(step).build())
        return next(child for child in tree.children if child.name == "product")
    assert [product(step).output_bytes for step in (0, 1, -1)] == [20000, 40000, 30000]
    assert product(0).requested_bytes >= 20000 and product(0).peak_bytes >= 20000
    assert product(0).run_count == 1 and product(0).exec_micros > 0
    assert product(0).devices == ["/job:localhost/replica:0/task:0/device:cpu:0"]
    kinds = profiler.profile_operations(options.with_step(1).build())
    assert "MatMul" in [c.name for c in _chain(kinds)] and kinds.total_exec_micros > 0
    assert not profiler.profile_graph(options.with_step(7).build()).children  # there is no such step
    # What was written is read back.
    written = proto.message("tensorflow.tfprof.ProfileProto").FromString(profiler.serialize_to_string())
    assert list(written.steps) == [0, 1] and written.has_trace
    assert {node.name for node in written.nodes.values()} >= {"x", "product"}
    from penstock._src.profiler.internal.node_stats import GraphStats
    path = tmp_path / "profile"
    path.write_bytes(profiler.serialize_to_string())
    again = GraphStats.of_file(str(path))
    assert again.to_message() == written
    path.write_bytes(b"\xff\xff\xff")
    with pytest.raises(tf.errors.DataLossError):
        GraphStats.of_file(str(path))


def _chain(row):
    rows = []
    while row.children:
        row, = row.children
        rows.append(row)
    return rows


def test_timelines_and_advice(tmp_path, capsys):
    x = tf.placeholder_with_default(tf.ones([64, 64]), [64, 64])
    y = tf.matmul(x, x, name="here/product")
    with tf.Session() as sess:
        metadata = traced(sess, y)
    for cmd in ("scope", "graph", "code"):
        path = str(tmp_path / cmd)
        options = everything().with_step(0).with_timeline_output(path).build()
        tf.profiler.profile(run_meta=metadata, cmd=cmd, options=options)
        with open(path + "_0") as file:
            events = json.load(file)["traceEvents"]
        bars = {e["name"]: e for e in events if e["ph"] == "X"}
        if cmd != "code":
            assert bars["here/product"]["dur"] > 0
    assert bars["_TFProfRoot"]["dur"] >= 0
    advice = tf.profiler.advise(run_meta=metadata)
    assert "top 1 operation type: " in advice.checkers["ExpensiveOperationChecker"].reports[0]
    assert not advice.checkers["AcceleratorUtilizationChecker"].reports
    assert "ExpensiveOperationChecker:" in capsys.readouterr().out


def test_stdout(capsys):
    small_model()
    tf.profiler.profile()
    printed = capsys.readouterr().out
    assert "_TFProfRoot (--/168 params)\n  DW (3x3x3x6, 162/162 params)\n" in printed
    assert "-account_type_regexes       _trainable_variables\n" in printed


def test_op_log(tmp_path):
    small_model()
    given = tf.profiler.OpLogProto()
    given.log_entries.add(name="a/Conv2D", types=["mine"])
    tf.profiler.write_op_log(tf.get_default_graph(), str(tmp_path), given)
    log = tf.profiler.OpLogProto.FromString((tmp_path / "tfprof_log").read_bytes())
    entries = {entry.name: entry for entry in log.log_entries}
    assert (entries["a/Conv2D"].float_ops, list(entries["a/Conv2D"].types)) == (5832, ["mine"])
    assert list(entries["DW"].types) == ["_trainable_variables"]
    files = {log.id_to_string[trace.file_id] for trace in entries["DW"].code_def.traces}
    assert __file__ in files
    mine = everything(select=["float_ops"]).with_accounted_types(["mine"]).with_empty_output().build()
    assert tf.profiler.profile(op_log=given, options=mine).total_float_ops == 5832


@pytest.mark.parametrize("options, message", [
    ({"output": "paper"}, "Unknown output type: paper"), ({"output": "file"}, "outfile"),
    ({"output": "file:name=x"}, "Unrecognized options name"), ({"show_name_regexes": ["("]}, "regular expression")])
def test_wrong_options(options, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.profiler.profile(options=options)
    with pytest.raises(tf.errors.InvalidArgumentError, match="unknown cmd"):
        tf.profiler.profile(cmd="tree")


def flops(tensor):
    op = tensor.op
    return tf.profiler.profile(options=BUILDER(BUILDER.float_operation()).with_empty_output().with_node_names(
        show_name_regexes=[op.name]).build()).total_float_ops


@pytest.mark.parametrize("make, count", [
    (lambda x: tf.rsqrt(x), 2 * 2304), (lambda x: tf.nn.l2_loss(x), 3 * 2304 - 1),
    (lambda x: tf.squared_difference(x, x), 2 * 2304), (lambda x: tf.reduce_mean(x), 2304),
    (lambda x: tf.reduce_sum(x, [1, 2]), 2304 - 4 * 4), (lambda x: tf.add_n([x, x, x]), 2 * 2304),
    (lambda x: tf.nn.avg_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "SAME"), 9 * 4 * 6 * 6 * 4),
    (lambda x: tf.nn.depthwise_conv2d(x, tf.ones([3, 3, 4, 2]), [1, 1, 1, 1], "SAME"), 2 * 9 * 2304 * 2),
    (lambda x: tf.nn.conv3d(tf.ones([1, 4, 4, 4, 2]), tf.ones([2, 2, 2, 2, 3]), [1] * 5, "SAME"), 2 * 16 * 64 * 3),
    (lambda x: tf.nn.conv2d_backprop_filter(x, [3, 3, 4, 5], tf.ones([4, 6, 6, 5]), [1, 2, 2, 1], "SAME"),
     2 * 2304 * 180 // 16),
    (lambda x: tf.matmul(tf.ones([2, 3, 4]), tf.ones([2, 4, 5])), 2 * 4 * 30),
    (lambda x: tf.matmul(tf.ones([4, 3]), tf.ones([4, 5]), transpose_a=True), 2 * 4 * 15)])
def test_formulas(make, count):
    assert flops(make(tf.ones([4, 12, 12, 4]))) == count


def test_statistics_of_a_program(graph):
    from penstock._src.graph import ops
    with pytest.raises(KeyError):
        ops.RegisterStatistics("MatMul", "flops")(lambda graph, node: None)  # there already
    ops.RegisterStatistics("Erfc", "flops")(lambda graph, node: ops.OpStats("flops", 1234))
    assert flops(tf.math.erfc(tf.ones([2]))) == 1234


def test_profile_context(tmp_path):
    x = tf.placeholder_with_default(tf.ones([8, 8]), [8, 8])
    y = tf.matmul(x, x)
    opts = everything(select=["micros"]).with_empty_output().build()
    with tf.contrib.tfprof.ProfileContext(str(tmp_path / "new"), trace_steps=[1], dump_steps=[3]) as context:
        context.add_auto_profiling("op", opts, [2])
        with tf.Session() as sess:
            for step in range(5):
                sess.run(y)
                assert (tmp_path / "new" / "profile_3").exists() == (step >= 3)
        assert set(context.get_profiles("op")) == {2}
        with pytest.raises(ValueError, match="scope"):
            context.get_profiles("scope")
        with pytest.raises(tf.errors.InternalError, match="Already"), tf.contrib.tfprof.ProfileContext("elsewhere"):
            pass
    with tf.Session() as sess:
        sess.run(y)
    written = proto.message("tensorflow.tfprof.ProfileProto").FromString((tmp_path / "new" / "profile_3").read_bytes())
    assert list(written.steps) == [1, 2]
    with pytest.raises(ValueError, match="directory"):
        tf.contrib.tfprof.ProfileContext("")
