"""Random programs with version 1's queues, tables, readers and their kin find what they find in TensorFlow 1.15.5."""
import os
import subprocess
import sys

SCRIPT = os.path.join(os.path.dirname(__file__), "..", "..", "oracle", "queues", "random_queues.py")


def test_random_programs():
    ran = subprocess.run([sys.executable, SCRIPT, "compare"], capture_output=True, text=True, timeout=110)
    assert ran.returncode == 0, ran.stdout + ran.stderr
