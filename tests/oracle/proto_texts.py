"""Records messages that TensorFlow wrote, each as text and in binary: tests/oracle/proto_texts.json.gz.

    python tests/oracle/proto_texts.py PYTHON...    each PYTHON has a TensorFlow installed
    python tests/oracle/proto_texts.py --write      prints the messages that the TensorFlow of this Python writes
"""
import base64
import gzip
import json
import os
import subprocess
import sys
import tempfile

RECORD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "proto_texts.json.gz")


def build(tf):
    """A graph with every kind of attribute that programs commonly have: training, a loop, a conditional, a function."""
    import importlib
    internal = "tensorflow_core" if tf.__version__.startswith("1.") else "tensorflow"
    function = importlib.import_module(internal + ".python.framework.function")

    @function.Defun(tf.float32)
    def double(x):
        return x * 2.0

    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        with tf.variable_scope("layer"), tf.device("/device:CPU:0"):
            w = tf.get_variable("w", [4, 3], initializer=tf.glorot_uniform_initializer(seed=2))
            b = tf.get_variable("b", initializer=tf.zeros([3]), use_resource=True)
        y = tf.nn.relu(tf.matmul(x, w) + b, name="y")
        loss = tf.reduce_mean(double(y), name="loss")
        words = tf.constant([b"a", b"\x00\xff\"quote\"", "Zürich".encode()], name="words")
        tf.constant([[1.5, float("inf")], [float("nan"), -0.0]], tf.float16, name="halves")
        tf.constant([1 + 2j], tf.complex64, name="complex")
        tf.while_loop(lambda i: i < 10, lambda i: i + tf.size(words), [tf.constant(0)], name="loop")
        tf.cond(loss > 1.0, lambda: x, lambda: -x, name="branch")
        tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=tf.train.get_or_create_global_step())
        tf.summary.scalar("loss", loss)
        tf.train.Saver()
        return graph


def write():
    """{name: [full name of the message, text, binary in base64]}."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow
    version = tensorflow.__version__
    tf = tensorflow.compat.v1
    tf.disable_eager_execution()
    tf.disable_control_flow_v2()
    graph = build(tf)
    made = {}

    def add(name, message, text=None):
        made[name] = [message.DESCRIPTOR.full_name, str(message) if text is None else text,
                      base64.b64encode(message.SerializeToString()).decode()]

    with tempfile.TemporaryDirectory() as directory:
        definition = graph.as_graph_def(add_shapes=True)
        path = tf.train.write_graph(definition, directory, "graph.pbtxt", as_text=True)
        with open(path) as file:
            add("graph", definition, file.read())
        path = os.path.join(directory, "meta.pbtxt")
        with graph.as_default():
            meta = tf.train.export_meta_graph(path, as_text=True)
        with open(path) as file:
            add("meta_graph", meta, file.read())
        with tf.Session(graph=graph) as session:
            metadata = tf.RunMetadata()
            session.run([variable.initializer for variable in graph.get_collection("variables")],
                        options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
            add("run_metadata", metadata)
            summary = session.run("loss:0", {"x:0": [[1., 2., 3., 4.]]})
            add("summary", tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=summary)]))
    config = tf.ConfigProto(device_count={"CPU": 2}, intra_op_parallelism_threads=1, allow_soft_placement=True)
    config.gpu_options.per_process_gpu_memory_fraction = 0.25
    config.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
    config.graph_options.rewrite_options.memory_optimization = 3
    add("config", config)
    return {"version": version, "messages": made}


def write_with(python):
    """What another Python's TensorFlow writes."""
    output = subprocess.run([python, os.path.abspath(__file__), "--write"], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, check=True, timeout=300).stdout
    return json.loads(output.decode().splitlines()[-1])


def load():
    """The record: {version: {name: [full name, text, binary in base64]}}."""
    with gzip.open(RECORD, "rt", encoding="utf-8") as file:
        return json.load(file)


def main(arguments):
    if arguments == ["--write"]:
        print(json.dumps(write()))
        return
    results = [write_with(python) for python in arguments]
    record = {result["version"]: result["messages"] for result in results}
    with open(RECORD, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as file:
        file.write(json.dumps(record, sort_keys=True, separators=(",", ":")).encode())


if __name__ == "__main__":
    main(sys.argv[1:])
