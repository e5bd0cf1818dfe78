"""No arguments whatsoever crash, hang or confuse an op: random calls, in processes of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock import _core

_SCRIPT = Path(__file__).with_name("fuzz_ops.py")
_PACKAGE = Path(__file__).resolve().parents[3] / "python"
# Ops that act on the process, its files or other steps rather than on their arguments.
_LEFT_OUT = {
    "Abort",
    "PyFunc",
    "PyFuncStateless",
    "EagerPyFunc",
    "_Send",
    "_Recv",
    "_HostSend",
    "_HostRecv",
    "WriteFile",
    "SaveV2",
    "MergeV2Checkpoints",
    "Save",
    "SaveSlices",
    "DeleteSessionTensor",
    "_Arg",
    "_Retval",
}


def _ops():
    return [n for n in _core.op_names() if _core.op_def(n).has_kernel and n not in _LEFT_OUT]


def _fuzz(names, seed, seconds):
    environment = {**os.environ, "PYTHONPATH": str(_PACKAGE)}
    done = subprocess.run(
        [sys.executable, str(_SCRIPT), str(seed), str(seconds), *names],
        env=environment,
        capture_output=True,
        text=True,
        timeout=seconds + 250,
    )
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-2000:]}"


def test_a_crash_is_found(monkeypatch):
    sys.path.insert(0, str(_SCRIPT.parent))
    import fuzz_ops

    monkeypatch.setattr(
        fuzz_ops, "call", lambda name, seed: os.kill(os.getpid(), 9) if seed == 2 else "wrong" if seed == 3 else None
    )
    assert fuzz_ops.fuzz("Relu", 1, 4) == ["Relu 2: ended with status 9", "Relu 3: wrong"]


def test_random_arguments():
    _fuzz(_ops()[::8], 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_random_arguments_longer(part):
    _fuzz(_ops()[part::8], 1000, 30)
