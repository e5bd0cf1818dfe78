"""tf.flags over absl's, in processes of their own: what programs do without tf.app.run."""
import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys
BLOCK
import penstock.v1 as tf
flags = tf.flags
flags.DEFINE_string(flag_name="name", default_value="x", docstring="A name.")
flags.DEFINE_integer("count", default_value=3, docstring="How many.")
tf.app.flags.DEFINE_bool("fast", False, "Whether.")
tf.flags.DEFINE_float("rate", docstring="Of learning.", default=.5)
FLAGS = tf.app.flags.FLAGS
assert "name" in FLAGS and "other" not in FLAGS and "count" in list(FLAGS)
"""


def run(rest, *arguments, absl=True):
    block = "" if absl else "sys.modules['absl'] = sys.modules['absl.flags'] = None"
    return subprocess.run([sys.executable, "-c", PROGRAM.replace("BLOCK", block) + rest, *arguments],
                          capture_output=True, text=True, timeout=60,
                          env=dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p)))


@pytest.mark.parametrize("absl", [True, False])
def test_values_are_read_when_first_asked_for(absl):
    done = run("print(FLAGS.name, FLAGS.count, FLAGS.fast, FLAGS.rate)\nFLAGS.count = 7\nprint(FLAGS.count)",
               "--name=y", "--fast", "--rate", "0.25", absl=absl)
    assert done.stdout == "y 3 True 0.25\n7\n", done.stderr


def test_an_unknown_flag_is_an_error_then():
    pytest.importorskip("absl")
    done = run("FLAGS.name", "--nmae=y")
    assert done.returncode != 0 and "Unknown command line flag 'nmae'" in done.stderr


def test_flags_belong_to_the_module_that_defines_them():
    pytest.importorskip("absl")
    done = run("from absl import flags as absl_flags\n"
               "print(sorted(f.name for f in absl_flags.FLAGS.get_key_flags_for_module(sys.argv[0])))\n"
               "assert flags.BooleanParser is absl_flags.BooleanParser")
    assert done.stdout == "['count', 'fast', 'name', 'rate']\n", done.stderr
