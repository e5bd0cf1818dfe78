"""Programs build the graphs that TensorFlow 1.15.5 builds: node names, op types, inputs, attributes, collections."""
import gzip
import json
import os
import sys

import pytest

import penstock.v1 as tf

HERE = os.path.join(os.path.dirname(__file__), "..", "..", "oracle", "graphs_v1")
sys.path.insert(0, HERE)
from graph_record import differences, record  # noqa: E402
from record import programs  # noqa: E402

with gzip.open(os.path.join(HERE, "graphs.json.gz")) as f:
    THEIRS = json.loads(f.read())
PROGRAMS = programs()


# What differs by design (docs/differences.md).
DIFFERENT = {"training.constrained": "a constraint reads a reference variable once more, behind the update"}


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_same_graph(name):
    if name in DIFFERENT:
        pytest.skip(DIFFERENT[name])
    with tf.Graph().as_default() as graph:
        PROGRAMS[name](tf)
        ours = json.loads(json.dumps(record(graph)))
    assert differences(ours, THEIRS[name]) == []


def test_every_program_was_recorded():
    assert sorted(PROGRAMS) == sorted(THEIRS)


def test_a_difference_is_found():
    name = "variables.plain_variables"
    changed = json.loads(json.dumps(THEIRS[name]))
    changed["nodes"]["a"]["device"] = "/cpu:7"
    del changed["nodes"]["b/read"]
    changed["collections"]["variables"].pop()
    assert len(differences(changed, THEIRS[name])) == 3
