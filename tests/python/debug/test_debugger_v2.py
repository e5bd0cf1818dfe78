"""TensorBoard's Debugger V2 shows the files of tf.debugging.experimental.enable_dump_debug_info."""
import contextlib
import json
import os
import subprocess
import sys
import time
import urllib.parse
import urllib.request

import pytest

import penstock.v2 as tf

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "saved_model"))
import tensorflow_files  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("version_two")]


@contextlib.contextmanager
def plugin(logdir):
    """A function that asks TensorBoard's plug-in, which reads the files by TensorFlow."""
    python = tensorflow_files.tensorflow_python()
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PENSTOCK_NATIVE_DIR")}
    if subprocess.run([python, "-c", "import tensorboard.main"], env=environment, capture_output=True).returncode:
        pytest.skip("the Python that has TensorFlow has no TensorBoard")
    process = subprocess.Popen([python, "-m", "tensorboard.main", "--logdir", str(logdir), "--port", "0",
                                "--load_fast=false"], stderr=subprocess.PIPE, text=True, env=environment)
    try:
        address = next(line.split(" at ")[1].split()[0] for line in process.stderr if " at http://" in line)

        def ask(route, **arguments):
            url = f"{address.rstrip('/')}/data/plugin/debugger-v2/{route}?{urllib.parse.urlencode(arguments)}"
            with urllib.request.urlopen(url, timeout=60) as answer:
                return json.loads(answer.read())

        yield ask
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_the_plugin_shows_what_ran(tmp_path):
    tf.debugging.experimental.enable_dump_debug_info(str(tmp_path), "FULL_HEALTH", circular_buffer_size=-1)
    try:
        v = tf.Variable([1.0, 0.0])

        @tf.function
        def logs(x):
            return tf.math.log(x * v)

        tf.reduce_sum(logs(tf.constant([1.0, 2.0])))
    finally:
        tf.debugging.experimental.disable_dump_debug_info()
    with plugin(tmp_path) as ask:
        end = time.monotonic() + 60
        while not ask("runs") and time.monotonic() < end:
            time.sleep(0.2)
        run, = ask("runs")
        while ask("execution/digests", run=run, begin=0, end=0)["num_digests"] < 4 and time.monotonic() < end:
            time.sleep(0.2)
        ran = ask("execution/data", run=run, begin=0, end=4)["executions"]
        assert [e["op_type"] for e in ran][:2] == ["VarHandleOp", "AssignVariableOp"] and ran[3]["op_type"] == "Sum"
        # rank, size, how many are -inf, inf, NaN, negative, zero, positive
        assert ran[2]["debug_tensor_values"][0][3:] == [1, 2, 1, 0, 0, 0, 1, 0]
        count = ask("graph_execution/digests", run=run, begin=0, end=0)["num_digests"]
        inside = ask("graph_execution/digests", run=run, begin=0, end=count)["graph_execution_digests"]
        log = next(t for t in inside if t["op_type"] == "Log")
        assert ask("graphs/graph_info", run=run, graph_id=log["graph_id"])["name"] == "logs"
        op = ask("graphs/op_info", run=run, graph_id=log["graph_id"], op_name="Log")
        assert [i["op_name"] for i in op["inputs"]] == ["mul"]
        frames = ask("stack_frames/stack_frames", run=run, stack_frame_ids=",".join(op["stack_frame_ids"]))
        files = ask("source_files/list", run=run)
        source = ask("source_files/file", run=run, index=[f[1] for f in files].index(__file__))["lines"]
        lines = [source[line - 1].strip() for _, file, line, _ in frames["stack_frames"] if file == __file__]
        assert lines[-1] == "return tf.math.log(x * v)"
        alerts = ask("alerts", run=run, begin=0, end=-1)
        assert {a["op_type"] for a in alerts["alerts"]} >= {"Log", "Sum"}
