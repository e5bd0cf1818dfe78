"""The trace of a step, from a StepStats made by hand."""
import json

import penstock.v1 as tf
from penstock import proto
from penstock._src.session.timeline import Timeline


def stats():
    message = proto.message("tensorflow.StepStats")()
    device = message.dev_stats.add(device="/cpu:0")

    def node(name, label, start, length, size):
        made = device.node_stats.add(node_name=name, timeline_label=label, all_start_micros=start,
                                     all_end_rel_micros=length)
        made.output.add().tensor_description.allocation_description.MergeFrom(
            proto.message("tensorflow.AllocationDescription")(requested_bytes=size, allocator_name="cpu"))
    node("a", "a = Const()", 100, 10, 400)
    node("b", "b = Const()", 105, 10, 40)  # while a runs
    node("c", "c = Add(a, b)", 120, 10, 4)
    return message


def test_events_and_memory():
    analysis = Timeline(stats()).analyze_step_stats()
    events = json.loads(analysis.chrome_trace.format_to_string())["traceEvents"]
    ran = {e["args"]["name"]: e for e in events if e["ph"] == "X"}
    assert {n: (e["name"], e["ts"], e["dur"], e["tid"]) for n, e in ran.items()} == {
        "a": ("Const", 100, 10, 0), "b": ("Const", 105, 10, 1), "c": ("Add", 120, 10, 0)}
    assert ran["c"]["args"]["input1"] == "b"
    arrows = [e for e in events if e.get("cat") == "DataFlow"]
    assert [(e["ph"], e["name"], e["ts"]) for e in arrows] == [("s", "b", 115), ("t", "b", 120)]  # a's lane is c's
    most = analysis.allocator_maximums["cpu"]
    assert (most.timestamp, most.num_bytes, most.tensors) == (120, 444, {"a", "b", "c"})
    counters = [e["args"]["cpu"] for e in events if e["ph"] == "C"]
    assert counters[-1] == 0 and max(counters) == 444


def test_what_is_shown_is_chosen():
    plain = json.loads(Timeline(stats()).generate_chrome_trace_format(show_dataflow=False))["traceEvents"]
    assert {e["ph"] for e in plain} == {"M", "X"}
    full = json.loads(Timeline(stats()).generate_chrome_trace_format(show_memory=True))["traceEvents"]
    assert {e["ph"] for e in full} == {"M", "X", "s", "t", "N", "O", "D", "C"}


def test_of_a_real_step():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant([1.0, 2.0]) * tf.placeholder_with_default([2.0, 2.0], [2])
        metadata = tf.RunMetadata()
        sess.run(x, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
        analysis = Timeline(metadata.step_stats).analyze_step_stats()
        assert '"Mul"' in analysis.chrome_trace.format_to_string() and analysis.allocator_maximums["cpu"].num_bytes >= 8
