"""Our transport against TensorFlow's own gRPC; skipped where no Python with TensorFlow is named."""
import os
import pathlib
import socket
import subprocess

import pytest

NATIVE = os.environ.get("PENSTOCK_NATIVE_DIR")
INTEROP = pathlib.Path(NATIVE or "build/release/python").parent / "tests" / "rpc_interop"

pytestmark = pytest.mark.skipif(not INTEROP.exists(), reason="needs the C++ tests")

SERVER = """
import sys
import tensorflow as tf
train = tf.compat.v1.train
server = train.Server({"worker": [sys.argv[1]]}, job_name="worker", task_index=0)
print("up", flush=True)
sys.stdin.read()
import os
os._exit(0)
"""

CLIENT = """
import sys
import tensorflow as tf
v1 = tf.compat.v1
with v1.Graph().as_default():
    v1.constant(1.0)
    try:
        v1.Session("grpc://" + sys.argv[1]).run([])
        v1.Session("grpc://" + sys.argv[1]).list_devices()
    except tf.errors.OpError as error:
        print(type(error).__name__, error.message)
"""


def _python(variable):
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"{variable} names no Python with TensorFlow")
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PENSTOCK_NATIVE_DIR")}
    return python, environment | {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}


@pytest.mark.parametrize("variable", ["PENSTOCK_TF1_PYTHON", "PENSTOCK_TF2_PYTHON"])
def test_calls_of_a_tensorflow_server(variable):
    python, environment = _python(variable)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"localhost:{free.getsockname()[1]}"
    with subprocess.Popen([python, "-c", SERVER, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          env=environment, text=True) as server:
        try:
            assert server.stdout.readline() == "up\n"
            status = subprocess.run([INTEROP, "call", address, "/tensorflow.WorkerService/GetStatus"], input=b"",
                                    capture_output=True, timeout=60, check=True)
            missing = subprocess.run([INTEROP, "call", address, "/tensorflow.MasterService/RunStep"], input=b"",
                                     capture_output=True, timeout=60, check=True)
        finally:
            server.stdin.close()
            server.wait(60)
    assert status.stdout.startswith(b"0 \n")
    assert b"/job:worker/replica:0/task:0/device:CPU:0" in status.stdout
    assert missing.stdout == b"10 Session  is not found.\n"


@pytest.mark.parametrize("variable", ["PENSTOCK_TF1_PYTHON", "PENSTOCK_TF2_PYTHON"])
def test_a_tensorflow_client_calls_our_server(variable):
    python, environment = _python(variable)
    with subprocess.Popen([INTEROP, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            port = server.stdout.readline().strip()
            client = subprocess.run([python, "-c", CLIENT, f"localhost:{port}"], capture_output=True, timeout=120,
                                    env=environment, text=True, check=False)
        finally:
            server.stdin.close()
            server.wait(60)
    # It has no sessions; the client understands that.
    assert client.stdout == "UnimplementedError unknown method /tensorflow.MasterService/CreateSession\n", client.stderr
