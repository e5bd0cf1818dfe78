"""Programs compute the numbers that TensorFlow 1.15.5 computed."""
import gzip
import json
import os
import sys

import numpy as np
import pytest

import penstock.v1 as tf

HERE = os.path.join(os.path.dirname(__file__), "..", "..", "oracle", "values_v1")


def _recorder():
    # Two folders have a record.py.
    import importlib.util
    spec = importlib.util.spec_from_file_location("values_v1_record", os.path.join(HERE, "record.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sys.path.insert(0, HERE)
PROGRAMS = _recorder().programs()
with gzip.open(os.path.join(HERE, "values.json.gz")) as f:
    THEIRS = json.loads(f.read())


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_same_values(name):
    with tf.Graph().as_default():
        ours = PROGRAMS[name](tf)
    assert sorted(ours) == sorted(THEIRS[name])
    for key, value in ours.items():
        np.testing.assert_allclose(np.asarray(value, np.float64), THEIRS[name][key], rtol=2e-4, atol=2e-5, err_msg=key)


def test_every_program_was_recorded():
    assert sorted(PROGRAMS) == sorted(THEIRS)
