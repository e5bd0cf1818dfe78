"""SavedModels and checkpoints that TensorFlow wrote (tests/oracle/saved_models), and TensorFlow itself where it is."""
import functools
import importlib.util
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy as np
import pytest

RECORD = Path(__file__).resolve().parents[2] / "oracle" / "saved_models"


@functools.lru_cache(None)
def files():
    """(directory of the files, what they answer)."""
    directory = tempfile.TemporaryDirectory()
    with tarfile.open(RECORD / "files.tar.xz") as archive:
        archive.extractall(directory.name)
    files.keep = directory
    answers = json.loads(Path(directory.name, "answers.json").read_text())["answers"]
    return Path(directory.name), answers


def check(value, expected):
    """Compares a result with its form in JSON."""
    if isinstance(expected, dict):
        assert set(value) == set(expected)
        for key, part in expected.items():
            check(value[key], part)
        return
    if isinstance(value, (list, tuple)):
        assert len(value) == len(expected)
        for part, wanted in zip(value, expected):
            check(part, wanted)
        return
    value = np.asarray(value.numpy())
    if value.dtype.kind in "OS":
        assert [v.decode("latin-1") for v in np.ravel(value)] == np.ravel(expected).tolist()
    else:
        np.testing.assert_allclose(value.astype(np.float64), np.reshape(expected, value.shape), rtol=1e-5)


def tensorflow_python():
    """The Python that has TensorFlow: PENSTOCK_TENSORFLOW_PYTHON, or this one. Skips the test if there is none."""
    named = os.environ.get("PENSTOCK_TENSORFLOW_PYTHON")
    if named is None and importlib.util.find_spec("tensorflow") is None:
        pytest.skip("TensorFlow is not installed; PENSTOCK_TENSORFLOW_PYTHON names a Python that has it")
    return named or sys.executable


def run_tensorflow(program, *arguments):
    """Runs a program on TensorFlow; what it prints."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PENSTOCK_NATIVE_DIR")}
    environment.update(CUDA_VISIBLE_DEVICES="", TF_CPP_MIN_LOG_LEVEL="3")
    done = subprocess.run([tensorflow_python(), "-c", program, *map(str, arguments)], env=environment, timeout=300,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout
