"""Which version a program is written for: by its names, its own modules, and where it runs.

`programs.json.gz` has 443 public programs, {repository and file: [version that it is of, the names that it takes from
TensorFlow]}; a name begins with ? where the program itself tells versions apart.
"""
import gzip
import json
from pathlib import Path

import pytest

from penstock.alias import choice, known, program

PROGRAMS = Path(__file__).with_name("programs.json.gz")


def test_public_programs():
    programs = json.loads(gzip.decompress(PROGRAMS.read_bytes()))
    assert sum(version == "v1" for version, _ in programs.values()) > 200 < len(programs) // 2
    wrong = []
    for path, (version, names) in programs.items():
        uses = [program.Use(name.lstrip("?"), path, 1, name.startswith("?")) for name in names.split()]
        if choice.weigh(uses)[0] != version:
            wrong.append(path)
    assert len(wrong) <= len(programs) // 100, wrong


@pytest.mark.parametrize("source, version, why", [
    ("import tensorflow as tf\ntf.train.AdamOptimizer(0.1)", "v1", "it uses tf.train.AdamOptimizer"),
    ("import tensorflow as tf\ntf.nn.dynamic_rnn(c, x)", "v1", "it uses tf.nn.dynamic_rnn"),
    ("import tensorflow as tf\ntf.estimator.Estimator(f)", "v1", "it uses tf.estimator"),
    ("from tensorflow.examples.tutorials.mnist import input_data", "v1", "it uses tf.examples"),
    ("import tensorflow as tf\nit = tf.data.Dataset.range(3).map(f).make_one_shot_iterator()", "v1",
     "it uses .make_one_shot_iterator"),
    ("import tensorflow as tf\ntf.data.Iterator.from_structure(t)", "v1", "it uses tf.data.Iterator.from_structure"),
    ("from tensorflow import keras, layers as l\nl.dense", "v1", "it uses tf.layers"),
    ("import tensorflow as tf\nprint 'old', tf.placeholder(tf.float32)", "v1", "it uses tf.placeholder"),
    ("import tensorflow as tf\ntf = tf.compat.v1\ntf.placeholder", "v1", "it imports tensorflow.compat.v1"),
    ("import tensorflow as tf\nif tf.__version__[0] == '1':\n  tf.Session()\nelse:\n  tf.keras", "v2",
     "nothing in it belongs to version 1 alone"),
    ("import tensorflow as tf\ntry:\n  log = tf.log\nexcept AttributeError:\n  log = tf.math.log", "v2",
     "nothing in it belongs to version 1 alone"),
    ("import tensorflow as tf\ntf.compat.v1.logging.set_verbosity(0)\ntf.reduce_sum(1)", "v2",
     "nothing in it belongs to version 1 alone"),
    ("import tensorflow as tf\nwith tf.GradientTape() as tape: tf.log(x)", "v2", "it uses tf.GradientTape"),
    ("import tensorflow as tf\ntf.enable_eager_execution()\nwith tf.GradientTape() as t: pass", "v1",
     "it uses tf.enable_eager_execution"),
    ("import tensorflow as tf\ntf.summary.create_file_writer(d)", "v2", "it uses tf.summary.create_file_writer"),
    ("'''tf.Session()'''\n# tf.placeholder\nimport tensorflow as tf", "v2", "nothing in it belongs to version 1 alone"),
])
def test_dotted_names(source, version, why):
    assert choice.decide(source) == (version, why)


def test_the_modules_of_the_folder_count(tmp_path):
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "__init__.py").write_text("")
    (tmp_path / "nets" / "model.py").write_text("import tensorflow as tf\nfrom . import parts\n")
    (tmp_path / "nets" / "parts.py").write_text("import tensorflow as tf\nx = lambda: tf.placeholder(tf.float32)\n")
    (tmp_path / "unused.py").write_text("import tensorflow as tf\ntf.GradientTape\n")
    main = tmp_path / "main.py"
    main.write_text("import tensorflow as tf\nfrom nets import model\n")
    assert choice.decide(main.read_bytes(), str(main)) == ("v1", "nets/parts.py uses tf.placeholder")
    main.write_text("import tensorflow as tf\n")
    assert choice.decide(main.read_bytes(), str(main))[0] == "v2"
    (tmp_path / "requirements.txt").write_text("numpy\ntensorflow-gpu==1.14.0\n")
    assert choice.decide(main.read_bytes(), str(main)) == ("v1", "requirements.txt says tensorflow-gpu==1.14.0")
    (tmp_path / "requirements.txt").write_text("tensorflow>=2.1\n")
    assert choice.decide(main.read_bytes(), str(main))[0] == "v2"


@pytest.mark.parametrize("name, versions", [
    ("placeholder", ("1", "placeholder")), ("train.AdamOptimizer.minimize", ("1", "train.AdamOptimizer")),
    ("contrib.layers.conv2d", ("1", "contrib")), ("math.approx_max_k", ("2", "math.approx_max_k")),
    ("nn.relu", ("12", "nn.relu")), ("keras.layers.Dense", ("12", "keras.layers")), ("nonsense", ("", "nonsense")),
    ("data.Dataset.output_shapes", ("1", "data.Dataset.output_shapes")), ("float32.name", ("12", "float32.name")),
])
def test_names_of_both_versions(name, versions):
    assert known.versions(name) == versions
