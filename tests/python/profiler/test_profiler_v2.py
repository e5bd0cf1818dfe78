"""tf.profiler.experimental and tf.summary's traces, in processes of version 2."""
import os
import subprocess
import sys

PROGRAM = """
import glob, os, sys, threading
import penstock as tf
from penstock import proto
folder = sys.argv[1]
"""


def run(tmp_path, program):
    done = subprocess.run([sys.executable, "-c", PROGRAM + program, str(tmp_path)], capture_output=True, text=True,
                          timeout=100, env=os.environ)
    assert done.returncode == 0, done.stderr
    return done


def test_recording(tmp_path):
    run(tmp_path, """
@tf.function
def product(x):
    return tf.reduce_sum(tf.matmul(x, x))
product(tf.ones([100, 100]))
tf.profiler.experimental.start(folder)
try:
    tf.profiler.experimental.start(folder)
    raise SystemExit("started twice")
except tf.errors.AlreadyExistsError:
    pass
for step in range(3):
    with tf.profiler.experimental.Trace("train", step_num=step, _r=1) as event:
        product(tf.ones([100, 100]))
        event.set_metadata(note="here")
with tf.compat.v1.Graph().as_default(), tf.compat.v1.Session() as sess:
    x = tf.compat.v1.placeholder(tf.float32, [])
    sess.run(tf.exp(x, name="of_a_session"), {x: 1.0})
tf.profiler.experimental.stop()
product(tf.ones([100, 100]))  # is no part of it
try:
    tf.profiler.experimental.stop()
    raise SystemExit("stopped twice")
except tf.errors.UnavailableError:
    pass
file, = glob.glob(folder + "/plugins/profile/*/*.xplane.pb")
space = proto.message("tensorflow.profiler.XSpace").FromString(open(file, "rb").read())
assert os.path.basename(file) == space.hostnames[0] + ".xplane.pb"
plane = space.planes[0]
assert plane.name == "/host:CPU" and space.planes[1].name == "Task Environment"
events = {}
for line in plane.lines:
    for event in line.events:
        metadata = plane.event_metadata[event.metadata_id]
        stats = {plane.stat_metadata[s.metadata_id].name: getattr(s, s.WhichOneof("value")) for s in event.stats}
        start = line.timestamp_ns * 1000 + event.offset_ps
        events.setdefault(metadata.display_name or metadata.name, []).append((start, start + event.duration_ps, stats))
assert [stats for _, _, stats in events["train"]] == [{"step_num": i, "_r": 1, "note": "here"} for i in range(3)]
assert len(events["MatMul"]) == 3 and len(events["Exp"]) == 1
for (start, end, _), (begin, finish, _) in zip(events["train"], events["MatMul"]):
    assert start <= begin < finish <= end
""")


def test_python_calls(tmp_path):
    run(tmp_path, """
def called():
    return 1
options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=0, python_tracer_level=1)
assert tuple(tf.profiler.experimental.ProfilerOptions()) == (2, 0, 1, None)
with tf.profiler.experimental.Profile(folder, options):
    called()
file, = glob.glob(folder + "/plugins/profile/*/*.xplane.pb")
assert b":%d called" % called.__code__.co_firstlineno in open(file, "rb").read()
""")


def test_graphs_of_functions(tmp_path):
    run(tmp_path, """
@tf.function
def inner(x):
    return tf.exp(x, name="inside")
@tf.function
def outer(x):
    return inner(x) * 2.0
inner(tf.constant(1.0))
writer = tf.summary.create_file_writer(folder)
try:
    tf.summary.trace_export("early", 1)
    raise SystemExit("exported without a trace")
except ValueError as e:
    assert "trace_on" in str(e)
tf.summary.trace_on(graph=True)
inner(tf.constant(2.0))  # the runtime knows it already
outer(tf.constant(1.0))
with writer.as_default():
    tf.summary.trace_export("graphs", step=3)
    tf.summary.trace_on(profiler=True, profiler_outdir=folder)
    outer(tf.constant([1.0, 2.0]))
    tf.summary.trace_export("all", step=4)
writer.close()
found = {}
for event in tf.compat.v1.train.summary_iterator(glob.glob(folder + "/*.v2")[0]):
    for value in event.summary.value:
        metadata = proto.RunMetadata.FromString(value.tensor.string_val[0])
        found[event.step, value.tag, value.metadata.plugin_data.plugin_name] = metadata
graphs = found[3, "graphs", "graph_run_metadata_graph"]
assert value.metadata.plugin_data.content == b"1"
collected, = graphs.function_graphs
nodes = {n.name: n for n in collected.pre_optimization_graph.node}
assert (nodes["x"].op, nodes["x"].attr["index"].i, nodes["x"].attr["T"].type) == ("_Arg", 0, 1)
assert any(n.op == "_Retval" for n in nodes.values()) and not graphs.HasField("step_stats")
everything = found[4, "all", "graph_run_metadata"]
assert everything.function_graphs and everything.step_stats.dev_stats[0].node_stats
assert glob.glob(folder + "/plugins/profile/*/*.xplane.pb")
""")


def test_traces_that_come_to_nothing(tmp_path):
    done = run(tmp_path, """
tf.summary.trace_on(graph=True)
tf.summary.trace_on(graph=True)
tf.summary.trace_off()
tf.summary.trace_off()
@tf.function
def f():
    tf.summary.trace_on(graph=True)
    return tf.constant(1)
f()
for call in (lambda: tf.profiler.experimental.server.start(0),
             lambda: tf.profiler.experimental.client.trace("grpc://localhost:1", folder, 10),
             lambda: tf.profiler.experimental.client.monitor("grpc://localhost:1", 10)):
    try:
        call()
        raise SystemExit("there is a server")
    except tf.errors.UnimplementedError:
        pass
""")
    assert "Trace already enabled" in done.stderr and "inside a tf.function" in done.stderr


def test_a_trace_leaves_the_programs_own_profiler_running(tmp_path):
    """As Keras' TensorBoard callback has it."""
    run(tmp_path, """
tf.summary.trace_on(graph=True, profiler=False)
tf.profiler.experimental.start(folder)
tf.function(lambda x: x + 1)(1.0)
with tf.summary.create_file_writer(folder).as_default():
    tf.summary.trace_export("graphs", step=3)
tf.profiler.experimental.stop()
assert len(glob.glob(folder + "/plugins/profile/*/*.xplane.pb")) == 1
""")
