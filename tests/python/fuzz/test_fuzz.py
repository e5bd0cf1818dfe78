"""Neither arguments nor graphs nor files crash, hang or confuse us: random ones, in processes of their own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from penstock import _core

_FOLDER = Path(__file__).resolve().parent
_PACKAGE = _FOLDER.parents[2] / "python"
sys.path.insert(0, str(_FOLDER))
# Ops that act on the process, its files or other steps rather than on their arguments.
_LEFT_OUT = {
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
# Ops that would wait for somebody else for ever: without a session there is no timeout.
_WAITING = re.compile(
    ".*Queue(De|En)queue.*|Stage|StagePeek|Unstage|(Map|OrderedMap)(Stage|Peek|Unstage.*)"
    "|Barrier.*|.*AccumulatorTakeGradient|Reader.*|Abort"
)
_PROGRAMS = ["network", "images", "arrays", "branches", "loop", "functions", "queue"]
_PROGRAMS += ["loops", "devices", "functional", "saved", "pipeline"]
_PARTS = ["index", "data", "meta", "state"]


def _ops():
    return [n for n in _core.op_names() if _core.op_def(n).has_kernel and n not in _LEFT_OUT]


def _eager_ops():
    """Those that can be called without a graph."""
    ops = [(n, _core.op_def(n)) for n in _ops() if not _WAITING.fullmatch(n)]
    return [
        n
        for n, op in ops
        if not any(arg.is_ref for arg in [*op.inputs, *op.outputs]) and not n.startswith(("_", "Placeholder"))
    ]


def _fuzz(script, names, seed, seconds):
    done = subprocess.run(
        [sys.executable, str(_FOLDER / script), str(seed), str(seconds), *names],
        env={**os.environ, "PYTHONPATH": str(_PACKAGE)},
        capture_output=True,
        text=True,
        timeout=seconds + 250,
    )
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-2000:]}"


def test_what_goes_wrong_is_found():
    import forked

    def call(name, seed):
        return os.kill(os.getpid(), 9) if seed == 2 else "wrong" if seed == 3 else None

    assert forked.fuzz(call, "name", 1, 4) == ["name 2: ended with status 9", "name 3: wrong"]


def test_random_arguments():
    _fuzz("fuzz_ops.py", _ops()[::8], 0, 0)


def test_hostile_arguments():
    _fuzz("fuzz_eager.py", _eager_ops()[3::40], 0, 0)


def test_hostile_sizes():
    _fuzz("fuzz_sizes.py", ["Tile", "Range", "StridedSlice", "SpaceToBatch", "SparseReshape"], 0, 9)


def test_damaged_graphs():
    _fuzz("fuzz_graphs.py", _PROGRAMS, 0, 5)


def test_damaged_checkpoints():
    _fuzz("fuzz_files.py", _PARTS, 0, 5)


def test_damaged_pipelines():
    _fuzz("fuzz_pipelines.py", [], 0, 0)


def test_odd_feeds():
    _fuzz("fuzz_feeds.py", ["feeds"], 0, 5)


@pytest.mark.slow
def test_odd_feeds_longer():
    _fuzz("fuzz_feeds.py", ["feeds"], 1000, 30)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_random_arguments_longer(part):
    _fuzz("fuzz_ops.py", _ops()[part::8], 1000, 30)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_hostile_arguments_longer(part):
    _fuzz("fuzz_eager.py", _eager_ops()[part::8], 1000, 30)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_hostile_sizes_longer(part):
    _fuzz("fuzz_sizes.py", _eager_ops()[part::8], part, 40)


@pytest.mark.slow
@pytest.mark.parametrize("name", _PROGRAMS)
def test_damaged_graphs_longer(name):
    _fuzz("fuzz_graphs.py", [name], 1000, 20)


@pytest.mark.slow
@pytest.mark.parametrize("part", _PARTS)
def test_damaged_checkpoints_longer(part):
    _fuzz("fuzz_files.py", [part], 1000, 20)


@pytest.mark.slow
def test_damaged_pipelines_longer():
    _fuzz("fuzz_pipelines.py", [], 1000, 60)


@pytest.mark.slow
def test_readers(tmp_path):
    target = Path(os.environ["PENSTOCK_NATIVE_DIR"]).parents[1] / "fuzz/tests/fuzz_readers"
    if not target.exists():
        pytest.skip("./dev test --all builds the target")
    limits = ["-max_total_time=60", "-timeout=20", "-rss_limit_mb=3000", "-max_len=4096"]
    corpus = _FOLDER.parents[1] / "fuzz/corpus"
    command = [target, *limits, tmp_path, corpus]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr[-4000:]
