"""What tf.debugging.experimental.enable_dump_debug_info writes; expected values are those of TensorFlow 2.21."""
import collections
import contextlib
import glob
import socket

import numpy as np
import pytest

import penstock.v2 as tf
from penstock import _core
from penstock import proto
from penstock._src.graph import op_callbacks


pytestmark = pytest.mark.usefixtures("version_two")


@contextlib.contextmanager
def dumping(directory, mode="NO_TENSOR", **options):
    writer = tf.debugging.experimental.enable_dump_debug_info(str(directory), mode, **options)
    try:
        yield writer
    finally:
        tf.debugging.experimental.disable_dump_debug_info()


def events(directory, kind):
    path, = glob.glob(f"{directory}/tfdbg_events.*.{socket.gethostname()}.{kind}")
    reader, found = _core.RecordReader(path), []
    while (record := reader.next()) is not None:
        event = proto.message("tensorflow.DebugEvent").FromString(record)
        found.append(getattr(event, event.WhichOneof("what")))
    return found


def value_of(message):
    return tf.make_ndarray(message).tolist()


def run_program():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

    @tf.function
    def f(x):
        y = tf.matmul(x, v)
        if tf.reduce_sum(y) > 0:
            y = y * 2.0
        for _ in tf.range(2):
            y = y + 1.0
        return tf.math.log(y - 2.0)

    with tf.GradientTape() as tape:
        y = tf.reduce_sum(f(tf.constant([[1.0, 0.0], [0.0, 0.0]])))
    tape.gradient(y, v)
    return f


def test_all_is_seen_of_ops_and_functions(tmp_path):
    with dumping(tmp_path, "FULL_HEALTH"):
        function = run_program()
    metadata, = events(tmp_path, "metadata")
    assert metadata.tensorflow_version == "2.21.0" and metadata.file_version == "debug.Event:1"
    assert len(metadata.tfdbg_run_id) == 8
    graphs = events(tmp_path, "graphs")
    ids = {g.graph_id: g for g in graphs if hasattr(g, "outer_context_id")}
    names = [g.graph_name for g in ids.values()]
    assert "f" in names and any(n.startswith("__backward_f_") for n in names)
    assert any(n.startswith("cond_true_") for n in names)
    by_op = {(ids[g.graph_id].graph_name, g.op_name): g for g in graphs if hasattr(g, "op_name")}
    product = by_op["f", "MatMul"]
    assert product.op_type == "MatMul" and list(product.input_names) == ["x:0", "MatMul/ReadVariableOp:0"]
    assert product.num_outputs == 1 and list(product.output_tensor_ids) == [4]
    # Where it was built, with the source.
    files = events(tmp_path, "source_files")
    frames = {f.id: f.file_line_col for f in events(tmp_path, "stack_frames")}
    stack = [frames[i] for i in product.code_location.stack_frame_ids]
    lines = [files[f.file_index].lines[f.line - 1].strip() for f in stack if files[f.file_index].file_path == __file__]
    assert lines[-1] == "y = tf.matmul(x, v)"
    # What ran.
    executions = events(tmp_path, "execution")
    kinds = [e.op_type for e in executions]
    assert kinds[:2] == ["VarHandleOp", "AssignVariableOp"] and "Sum" in kinds
    forward, = [e for e in executions if e.op_type.startswith("__forward_f_")]
    assert ids[forward.graph_id].graph_name == "f"
    assert value_of(forward.tensor_protos[0]) == [-1, -1, 1, 2, 4, 2, 0, 0, 0, 0, 2]
    backward, = [e for e in executions if "__backward_f_" in e.op_type]
    assert ids[backward.graph_id].graph_name.startswith("__backward_f_")
    device, = [g for g in graphs if hasattr(g, "device_id")]
    assert list(forward.output_tensor_device_ids) == [device.device_id] * forward.num_outputs
    # Values within graphs.
    traces = collections.defaultdict(list)
    for t in events(tmp_path, "graph_execution_traces"):
        traces[ids[t.tfdbg_context_id].graph_name.rstrip("0123456789"), t.op_name].append(value_of(t.tensor_proto))
    assert traces["f", "MatMul"] == [[4, -1, 1, 2, 4, 0, 0, 0, 0, 2, 2]]
    assert [t[1:] for t in traces["cond_true_", "cond/mul"]] == [[-1, 1, 2, 4, 0, 0, 0, 0, 2, 2]]
    assert len(traces["while_body_", "while/add"]) == 2
    assert [t[1:] for t in traces["__backward_f_", "gradients/Log_grad/Reciprocal"]] == [
        [-1, 1, 2, 4, 0, 2, 0, 0, 0, 2]]
    # Switched off, nothing more is written.
    before = [events(tmp_path, kind) for kind in ("execution", "graph_execution_traces")]
    function(tf.constant([[1.0, 0.0], [0.0, 0.0]]))
    tf.exp(1.0)
    assert [events(tmp_path, kind) for kind in ("execution", "graph_execution_traces")] == before


@pytest.mark.parametrize("mode, expected", [
    ("NO_TENSOR", ([], [])), ("CURT_HEALTH", ([-1, 1], [1])), ("CONCISE_HEALTH", ([-1, 3, 1, 0, 1], [3, 1, 0, 1])),
    ("SHAPE", ([-1, 1, 1, 3, 3, 0, 0, 0, 0, 0], [1, 1, 3, 3, 0, 0, 0, 0, 0])),
    ("FULL_TENSOR", ([-np.inf, np.nan, 0], [np.nan, 0]))])
def test_modes(tmp_path, mode, expected):
    with dumping(tmp_path, mode, op_regex="Log$", tensor_dtypes=["float32"]):
        x = tf.constant([0.0, -1.0, 1.0])
        tf.function(lambda x: tf.math.log(x) + 1.0)(x)
        tf.math.log(x)
        tf.strings.length("a")
    execution = [e for e in events(tmp_path, "execution") if e.op_type == "Log"][-1]
    eager = value_of(execution.tensor_protos[0]) if execution.tensor_protos else []
    np.testing.assert_array_equal(eager, expected[0])
    trace = events(tmp_path, "graph_execution_traces")[-1]
    assert (trace.op_name, trace.output_slot) == ("Log", 0)
    np.testing.assert_array_equal(value_of(trace.tensor_proto)[1:], expected[1])
    length = [e for e in events(tmp_path, "execution") if e.op_type == "StringLength"][-1]
    assert not length.tensor_protos  # not a type that was asked for


def test_the_last_events_are_kept_until_they_are_flushed(tmp_path):
    with dumping(tmp_path, circular_buffer_size=3) as writer:
        for _ in range(5):
            tf.exp(1.0)
        assert events(tmp_path, "execution") == []
        writer.FlushExecutionFiles()
        assert len(events(tmp_path, "execution")) == 3
        writer.FlushNonExecutionFiles()
        assert events(tmp_path, "source_files")


def test_what_is_refused(tmp_path):
    switch = tf.debugging.experimental.enable_dump_debug_info
    with pytest.raises(ValueError, match=r"Invalid value in tensor_debug_mode \('NONSENSICAL'\)"):
        switch(str(tmp_path), "NONSENSICAL")
    with pytest.raises(ValueError, match="Empty or None dump root"):
        switch("")
    with pytest.raises(ValueError, match="to be a list, a tuple, or a callable"):
        switch(str(tmp_path), tensor_dtypes=tf.float32)
    with dumping(tmp_path) as writer:
        assert switch(str(tmp_path)) is writer
        with pytest.raises(ValueError, match="different circular-buffer size"):
            switch(str(tmp_path), circular_buffer_size=7)
        with pytest.raises(ValueError, match="different tensor-debug mode"):
            switch(str(tmp_path), "SHAPE")
        switch(str(tmp_path / "other"))
        tf.exp(1.0)
    assert events(tmp_path, "execution") == [] and len(events(tmp_path / "other", "execution")) == 1


def test_callbacks():
    seen = []

    def callback(op_type, inputs, attrs, outputs, op_name=None, graph=None):
        tf.exp(1.0)  # is not seen
        seen.append((op_type, len(inputs), len(outputs), op_name, graph is None))

    op_callbacks.add_op_callback(callback)
    try:
        y = tf.constant(2.0) * 3.0
        tf.function(lambda x: tf.tanh(x))(y)
    finally:
        op_callbacks.remove_op_callback(callback)
    tf.tanh(y)
    assert seen[0][:3] == ("Mul", 2, 1) and seen[0][4]
    assert ("Tanh", 1, 1, "Tanh", False) in seen and seen[-1][0].startswith("__inference_")
    with pytest.raises(KeyError):
        op_callbacks.remove_op_callback(callback)
    with pytest.raises(ValueError, match="cannot be None"):
        op_callbacks.add_op_callback(None)


def test_values_of_graphs_outside_of_functions(tmp_path):
    v1 = tf.compat.v1
    nan = float("nan")
    with dumping(tmp_path, "FULL_HEALTH", circular_buffer_size=-1), tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        v = v1.get_variable("v", initializer=[[1.0], [2.0]], use_resource=True)
        product = tf.matmul(x, v, name="product")
        logs = v1.cond(tf.reduce_sum(product) > 0, lambda: tf.math.log(product), lambda: product - 1)
        turns = v1.while_loop(lambda i: i < 2.0, lambda i: i + 1.0, [tf.constant(0.0)])
        loss = tf.reduce_sum(logs, name="loss") + turns
        gradient, = v1.gradients(product, v)
        with v1.Session() as sess:
            sess.run(v.initializer)
            for fetches, feeds in ((product, {x: [[1.0, 2.0], [0.0, 0.0]]}), (loss, {x: [[1.0, 1.0], [0.0, 0.0]]}),
                                   (logs, {product: [[nan]]}), (gradient, {x: [[1.0, -3.0]]})):
                for _ in range(2):  # the second time by the step that is kept
                    sess.run(fetches, feeds)
    names = {(g.graph_id, g.op_name) for g in events(tmp_path, "graphs") if hasattr(g, "op_name")}
    found = collections.defaultdict(collections.Counter)
    for trace in events(tmp_path, "graph_execution_traces"):
        assert (trace.tfdbg_context_id, trace.op_name) in names
        # rank, size, how many are -inf, inf, NaN, negative, zero, positive
        found[trace.op_name][tuple(map(int, value_of(trace.tensor_proto)[3:]))] += 1
    assert found["product"] == {(2, 2, 0, 0, 0, 0, 1, 1): 4, (2, 1, 0, 0, 1, 0, 0, 0): 2, (2, 1, 0, 0, 0, 1, 0, 0): 2}
    assert found["x"] == {(2, 4, 0, 0, 0, 0, 2, 2): 4, (2, 2, 0, 0, 0, 1, 0, 1): 2}
    assert found["cond/Log"] == {(2, 2, 1, 0, 0, 0, 0, 1): 2}
    assert found["loss"] == {(0, 1, 1, 0, 0, 0, 0, 0): 2}
    assert found["v/Initializer/initial_value"] == {(2, 2, 0, 0, 0, 0, 0, 2): 1}
    assert found["gradients/product_grad/MatMul"] == {(2, 2, 0, 0, 0, 1, 0, 1): 2}
    assert found["while/Less/y"][0, 1, 0, 0, 0, 0, 0, 1] == 6  # the loop's condition
