"""Our transport against grpcio, in both directions; skipped where grpcio or the C++ tests are missing."""
import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

PEER = pathlib.Path(__file__).with_name("grpc_peer.py")
NATIVE = os.environ.get("PENSTOCK_NATIVE_DIR")
INTEROP = pathlib.Path(NATIVE or "build/release/python").parent / "tests" / "rpc_interop"
# Another interpreter may have it.
PYTHON = os.environ.get("PENSTOCK_GRPC_PYTHON", sys.executable)

pytestmark = [
    pytest.mark.skipif(PYTHON == sys.executable and importlib.util.find_spec("grpc") is None, reason="needs grpcio"),
    pytest.mark.skipif(not INTEROP.exists(), reason="needs the C++ tests"),
]


def _check(server, client):
    """Starts `server`, which prints its port, and returns the output of `client`."""
    with subprocess.Popen(server, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            port = process.stdout.readline().strip()
            found = subprocess.run([part.format(port=port) for part in client], capture_output=True, text=True,
                                   timeout=300, check=False)
        finally:
            process.stdin.close()
            process.wait(60)
    return found.stdout + found.stderr, process.returncode


def test_grpcio_calls_our_server():
    said, code = _check([INTEROP, "serve"], [PYTHON, str(PEER), "check", "{port}"])
    assert said == "done\n"
    assert code == 0


def test_we_call_a_grpcio_server():
    said, code = _check([PYTHON, PEER, "serve"], [str(INTEROP), "check", "127.0.0.1:{port}"])
    assert said == "done\n"
    assert code == 0
