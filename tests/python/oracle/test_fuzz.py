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
_LEFT_OUT = {"Abort", "PyFunc", "PyFuncStateless", "EagerPyFunc", "_Send", "_Recv", "_HostSend", "_HostRecv", "WriteFile", "SaveV2",
             "MergeV2Checkpoints", "Save", "SaveSlices", "DeleteSessionTensor", "_Arg", "_Retval"}

pytestmark = pytest.mark.slow


def _ops():
    return [n for n in _core.op_names() if _core.op_def(n).has_kernel and n not in _LEFT_OUT]


def _fuzz(names, seed, seconds):
    environment = {**os.environ, "PYTHONPATH": str(_PACKAGE)}
    done = subprocess.run([sys.executable, str(_SCRIPT), str(seed), str(seconds), *names], env=environment, capture_output=True,
                          text=True, timeout=seconds + 120)
    last = done.stdout.splitlines()[-1] if done.stdout else ""
    assert done.returncode == 0, f"status {done.returncode} in {last}\n{done.stderr[-2000:]}"


def test_random_arguments():
    _fuzz(_ops(), 0, 10)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_random_arguments_longer(part):
    _fuzz(_ops()[part::8], 1000, 30)
