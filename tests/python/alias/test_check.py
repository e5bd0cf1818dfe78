"""penstock check lists failures of a program before it runs; options of run: --compat, --soft-placement, --progress."""
import os
import subprocess
import sys

import pytest

from penstock.__main__ import main

OLD = '''import numpy as np, scipy.misc, cPickle, collections
from scipy.misc import imresize
import tensorflow as tf
from tensorflow.contrib import grid_rnn, slim
from tensorflow.python.ops import nonsense_ops
from tensorflow.python.framework import ops
x = tf.placeholder(tf.float32)
y = tf.mul(x, x)
a = np.zeros(3, dtype=np.float)
for i in xrange(3): pass
for k, v in {}.iteritems(): pass
isinstance(x, collections.Mapping)
tf.nn.relux(x)
np.zeross(3)
'''
FINDINGS = """1: Python 2: the module cPickle is pickle now; `penstock run --compat` puts it back
2: SciPy has no scipy.misc.imresize any more: use PIL.Image.resize; `penstock run --compat` puts it back
4: TensorFlow 1.15 has tf.contrib.grid_rnn, Penstock does not yet: see docs/differences.md
5: there is no tf.python.ops.nonsense_ops
8: tf.mul is from before TensorFlow 1.0: it is tf.multiply now
9: NumPy has no np.float any more: write float; `penstock run --compat` puts it back
10: Python 2: xrange is range now; `penstock run --compat` puts it back
11: Python 2: .iteritems is items now
12: Python has no collections.Mapping any more: write collections.abc.Mapping; `penstock run --compat` puts it back
13: there is no tf.nn.relux: did you mean tf.nn.relu or tf.nn.relu6 or tf.nn.crelu?
14: NumPy has no np.zeross: did you mean np.zeros?"""


def test_old_names(tmp_path, capsys):
    program = tmp_path / "program.py"
    program.write_text(OLD)
    assert main(["check", str(program)]) == 1
    first, *found, last = capsys.readouterr().out.splitlines()
    assert first == f"{program} is of TensorFlow 1.15.5 (it uses tf.contrib)" and last == "11 findings in 1 of 1 file"
    assert [line.replace(f"{program}:", "") for line in found] == FINDINGS.splitlines()


def test_a_folder_of_python_2(tmp_path, capsys):
    (tmp_path / "a.py").write_text("import tensorflow as tf\ndef f(x):\n  print 'a', x\n  try: pass\n"
                                   "  except ValueError, e:\n    print '<>'\n  tf.placeholder(0)\n")
    (tmp_path / "b.py").write_text("import tensorflow as tf\nif not hasattr(tf, 'mul'):\n  tf.mul = tf.multiply\n"
                                   "def xrange(n): return range(n)\nxrange(2)\n")
    assert main(["check", str(tmp_path)]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[1:] == [f"{tmp_path}/a.py:3: Python 2: print is a function: print(...)",
                       f"{tmp_path}/a.py:5: Python 2: write `except Error as e:`",
                       f"{tmp_path}/a.py:6: Python 2: print is a function: print(...)", "3 findings in 1 of 2 files"]


def test_the_examples_are_clean(capsys):
    examples = os.path.join(os.path.dirname(__file__), "..", "..", "..", "examples")
    assert main(["check", examples]) == 0 and "no findings in 0 of" in capsys.readouterr().out
    assert main(["check", "/no/such/program.py"]) == 2


def test_names_of_the_other_version(tmp_path, capsys):
    program = tmp_path / "program.py"
    program.write_text("import tensorflow as tf\nd = tf.data.Dataset.range(3).make_one_shot_iterator()\n"
                       "tf.losses.log_loss\n")
    assert main(["check", "--v2", str(program)]) == 1
    out = capsys.readouterr().out
    assert ":2: .make_one_shot_iterator is TensorFlow 1" in out and ":3: tf.losses.log_loss is TensorFlow 1" in out
    assert main(["check", "--v1", str(program)]) == 0


def run(*arguments, **environment):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), **environment}
    return subprocess.run([sys.executable, "-m", "penstock", *arguments], capture_output=True, text=True, timeout=100,
                          env={**environment, "PENSTOCK_TENSORFLOW": ""})


def test_compat_puts_old_names_back(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
import collections, time, cPickle, Queue
import numpy as np
import tensorflow as tf
assert cPickle.dumps and Queue.Queue and time.clock() >= 0 and issubclass(dict, collections.Mapping)
print(np.zeros(2, np.float).dtype, np.asscalar(np.ones(1)), np.product([2, 3]), np.PINF, list(xrange(2)), unicode(1),
      reduce(lambda a, b: a + b, [1, 2, 3]), cmp(1, 2))
""")
    assert run("--v1", str(program)).returncode == 1
    done = run("run", "--v1", "--compat", str(program))
    assert done.stdout == "float64 1.0 6 inf [0, 1] 1 6 -1\n", done.stderr


def test_soft_placement(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
import tensorflow as tf
with tf.device("/gpu:3"):
    x = tf.constant(1.0) + 1
print(tf.Session().run(x))
""")
    assert "gpu:3" in run("--v1", str(program)).stderr.lower()
    done = run("--v1", "--soft-placement", str(program))
    assert done.stdout == "2.0\n", done.stderr


@pytest.mark.parametrize("step", ["session.run(x)", "f()"])
def test_progress(tmp_path, step):
    program = tmp_path / "program.py"
    program.write_text(f"""
import os, signal
import tensorflow as tf
if hasattr(tf, "Session"):
    session, x = tf.Session(), tf.constant(1.0)
else:
    f = tf.function(lambda: 1.0)
for _ in range(7):
    {step}
os.kill(os.getpid(), signal.SIGUSR1)
""")
    done = run("--v1" if "session" in step else "--v2", "--progress", str(program))
    assert " 7 steps, " in done.stderr and " MiB, at " in done.stderr and "program.py:" in done.stderr, done.stderr
