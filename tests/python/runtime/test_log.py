"""PENSTOCK_LOG: messages about the named subjects on stderr, and none without it."""
import os
import subprocess
import sys

import pytest

PROGRAM = """
import penstock.v1 as tf
with tf.Session() as sess:
    x = tf.placeholder(tf.float32, [2])
    sess.run(tf.exp(x, name="loud"), {x: [1., 2.]})
"""


def lines(subjects):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PENSTOCK_LOG": subjects}
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=environment)
    return run.stderr.splitlines()


def test_without_subjects_nothing_is_written():
    assert lines("") == []


@pytest.mark.parametrize("subject, message", [
    ("placer", "loud (Exp) on /job:localhost/replica:0/task:0/device:CPU:0"),
    ("compile", "in 1 partitions, straight line"),
    ("executor", "step 1: straight line"),
])
def test_a_subject_is_written_alone(subject, message):
    written = lines(subject)
    assert any(message in line for line in written)
    assert all(line.startswith(f"[{subject} ") for line in written)


def test_unknown_subjects_are_reported():
    assert lines("plaser") == [
        "PENSTOCK_LOG: no subject plaser; subjects are all, compile, eager, executor, function, optimize, placer"]
