"""Canned estimators give what TensorFlow 1.15.5 gave (tests/oracle/estimators): numbers, names, files."""
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import penstock.v1 as tf

ORACLE = Path(__file__).resolve().parents[2] / "oracle" / "estimators"
sys.path.insert(0, str(ORACLE))
import estimator_programs  # noqa: E402

RECORDED = json.loads((ORACLE / "answers.json").read_text())


@pytest.fixture(autouse=True)
def quiet():
    before = tf.logging.get_verbosity()
    tf.logging.set_verbosity(tf.logging.ERROR)
    yield
    tf.logging.set_verbosity(before)
    tf.summary.FileWriterCache.clear()


def assert_same(got, expected, where):
    assert sorted(got) == sorted(expected), where
    for key, value in expected.items():
        if np.asarray(value).dtype.kind == "U":
            assert got[key] == value, f"{where} {key}"
        else:
            np.testing.assert_allclose(got[key], value, rtol=2e-4, atol=2e-5, err_msg=f"{where} {key}")


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_as_tensorflow(name, tmp_path):
    expected, got = RECORDED[name], estimator_programs.answers(tf, name, os.fspath(tmp_path))
    for part in ("metrics", "variables", "predictions"):
        assert_same(got[part], expected[part], part)
    for part in ("signatures", "tags", "files"):
        assert got[part] == expected[part], part
