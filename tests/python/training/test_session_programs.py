"""Random programs of version 1's sessions leave behind what they leave with TensorFlow 1.15.5."""
import gzip
import json
import math
import os
import sys

import pytest

import penstock.v1 as tf

HERE = os.path.join(os.path.dirname(__file__), "..", "..", "oracle", "sessions")
sys.path.insert(0, HERE)
from record_sessions import run  # noqa: E402

with gzip.open(os.path.join(HERE, "sessions.json.gz")) as f:
    THEIRS = json.loads(f.read())


def differences(ours, theirs, where=""):
    """Where two nested values differ, numbers by more than rounding."""
    numbers = (int, float)
    if isinstance(ours, numbers) and isinstance(theirs, numbers):
        same = ours == theirs or math.isclose(ours, theirs, rel_tol=5e-4, abs_tol=2e-5)
        return [] if same else [(where, ours, theirs)]
    if isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() == theirs.keys():
        return [found for key in ours for found in differences(ours[key], theirs[key], "%s.%s" % (where, key))]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [found for i, pair in enumerate(zip(ours, theirs))
                for found in differences(*pair, "%s[%d]" % (where, i))]
    return [] if ours == theirs else [(where, ours, theirs)]


@pytest.mark.parametrize("number", sorted(map(int, THEIRS)))
def test_a_program(number):
    verbosity = tf.logging.get_verbosity()
    tf.logging.set_verbosity(tf.logging.FATAL)
    try:
        ours = run(tf, number)
    finally:
        tf.logging.set_verbosity(verbosity)
    assert not differences(ours, THEIRS[str(number)])
