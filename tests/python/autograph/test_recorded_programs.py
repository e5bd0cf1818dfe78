"""Programs of eager code, tapes, functions and AutoGraph show what they show in TensorFlow, as recorded. They run in
processes of their own, as they are programs of version 2."""
import os
import subprocess
import sys

import pytest

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "oracle", "eager")
PARTS = 6


@pytest.mark.parametrize("part", range(PARTS))
def test_as_recorded(part, tmp_path):
    done = subprocess.run([sys.executable, os.path.join(HERE, "compare.py"), str(part), str(PARTS), str(tmp_path)],
                          capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
