"""python -m penstock leaves no trace in the program that it runs; its child processes find Penstock as it does."""
import importlib.util
import os
import subprocess
import sys

import pytest

from penstock._src.graph import stack


def run(*arguments, cwd=None, **environment):
    """The finished process `python ARGUMENTS`."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), **environment}
    environment.setdefault("PENSTOCK_TENSORFLOW", "")
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=120, cwd=cwd,
                          env=environment)


def test_the_main_module_is_as_python_makes_it(tmp_path):
    (tmp_path / "program.py").write_text("""
import sys
print(__file__, sys.argv, __name__, __spec__, __package__, sys.modules["__main__"].__file__ == __file__)
""")
    done = run("-m", "penstock", "--v2", "program.py", "--x", cwd=tmp_path)
    assert done.stdout == run("program.py", "--x", cwd=tmp_path).stdout, done.stderr


def test_errors_show_only_the_program(tmp_path):
    (tmp_path / "program.py").write_text("""
def f():
    try:
        {}["a"]
    except KeyError:
        raise ValueError("b")
f()
""")
    ours, theirs = run("-m", "penstock", "--v2", "program.py", cwd=tmp_path), run("program.py", cwd=tmp_path)
    assert (ours.returncode, ours.stderr) == (1, theirs.stderr)
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "main.py").write_text("from . import absent\n")
    done = run("-m", "penstock", "--v2", "-m", "package.main", cwd=tmp_path)
    assert done.returncode == 1 and "runner" not in done.stderr and "runpy" not in done.stderr, done.stderr
    assert done.stderr.startswith("Traceback (most recent call last):\n  File \"%s\", line 1" % (
        tmp_path / "package" / "main.py"))


def test_nodes_are_defined_in_the_program_alone(tmp_path):
    (tmp_path / "program.py").write_text("""
import tensorflow as tf
x = tf.placeholder(tf.float32, name="x")
print([(frame[0] == __file__, frame[1]) for frame in x.op.traceback if "penstock" not in frame[0]])
print(any("runner" in frame[0] or "runpy" in frame[0] or "__main__.py" in frame[0] for frame in x.op.traceback))
""")
    done = run("-m", "penstock", "--v1", "program.py", cwd=tmp_path)
    assert done.stdout == "[(True, 3)]\nFalse\n", done.stderr


def test_keras_own_frames_are_not_the_users():
    def code(file):
        return compile("1", file, "exec")
    keras, user = code("/site-packages/keras/src/layers/layer.py"), code("/home/me/train.py")
    assert stack.user_line((keras, 0, user, 0))[0] == "/home/me/train.py"
    assert stack.user_line((keras, 0))[0] == "/site-packages/keras/src/layers/layer.py"


def test_tools_that_tensorflow_has_as_modules(tmp_path):
    for version in ("--v1", "--v2"):
        for tool, word in (("freeze_graph", "--input_checkpoint"), ("saved_model_cli", "show")):
            done = run("-m", "penstock", version, "-m", f"tensorflow.python.tools.{tool}", "--help")
            assert done.returncode == 0 and word in done.stdout, done.stderr


CHILDREN = """
import multiprocessing, subprocess, sys
import tensorflow as tf

def version(_):
    import tensorflow as tf
    return tf.__version__

if __name__ == "__main__":
    for method in ("spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            print(method, pool.map(version, [1, 2]))
    source = ("from importlib.metadata import version as v; print(v('tensorflow'));"
              "import tensorflow as tf; print(tf.__version__)")
    print(subprocess.run([sys.executable, "-c", source], capture_output=True, text=True))
"""


@pytest.mark.parametrize("option, version", [("--v1", "1.15.5"), ("--v2", "2.21.0")])
def test_child_processes(tmp_path, option, version):
    """A pool of processes that cannot import TensorFlow starts them again for ever."""
    (tmp_path / "program.py").write_text(CHILDREN)
    done = run("-m", "penstock", option, "program.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for line in (f"spawn ['{version}', '{version}']", f"forkserver ['{version}', '{version}']",
                 f"stdout='{version}\\n{version}\\n', stderr=''"):
        assert line in done.stdout


def test_a_child_that_is_another_python_keeps_its_tensorflow(tmp_path):
    """The folder that children find Penstock by is on the path of programs that do not have Penstock, too."""
    import penstock
    folder = os.path.join(os.path.dirname(penstock.__file__), "alias", "path", "v2")
    (tmp_path / "tensorflow.py").write_text("real = True\n")
    done = subprocess.run([sys.executable, "-S", "-c", "import tensorflow; print(tensorflow.real)"], text=True,
                          env={"PYTHONPATH": f"{folder}{os.pathsep}{tmp_path}"}, capture_output=True)
    assert done.stdout == "True\n", done.stderr


def needs(*modules):
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason="not installed: " + ", ".join(missing))


def test_keras_in_version_one(tmp_path):
    """Keras 3 needs version 2: the name means tf_keras."""
    (tmp_path / "program.py").write_text("""
import tensorflow as tf
import keras
from keras.layers import Dense
from keras import backend as K
x = tf.placeholder(tf.float32, [None, 2])
print(keras is tf.keras or keras.layers.Dense is tf.keras.layers.Dense, Dense(3)(x).shape, K.get_session() is not None)
""")
    done = run("-m", "penstock", "--v1", "program.py", cwd=tmp_path)
    if importlib.util.find_spec("tf_keras") is None:
        assert done.returncode == 1 and "pip install --no-deps tf_keras" in done.stderr
    else:
        assert done.stdout == "True (?, 3) True\n", done.stderr
    (tmp_path / "keras.py").write_text("layers = backend = None\n")
    (tmp_path / "program.py").write_text("import tensorflow as tf, keras\nprint(keras.__file__)\n")
    done = run("-m", "penstock", "--v1", "program.py", cwd=tmp_path)
    assert done.stdout == f"{tmp_path / 'keras.py'}\n", done.stderr


@needs("keras")
def test_keras_by_itself_takes_tensorflow_as_its_backend(tmp_path):
    (tmp_path / "program.py").write_text("""
import keras
print(keras.backend.backend(), type(keras.ops.ones(2)).__module__.split(".")[0])
""")
    done = run("-m", "penstock", "program.py", cwd=tmp_path, KERAS_BACKEND="tensorflow")
    assert done.stdout == "tensorflow penstock\n", done.stderr


@pytest.mark.slow
@needs("joblib")
def test_loky(tmp_path):
    (tmp_path / "program.py").write_text("""
import tensorflow as tf
from joblib import Parallel, delayed
def version(_):
    import tensorflow as tf
    return tf.__version__
print(Parallel(n_jobs=2)(delayed(version)(i) for i in range(2)))
""")
    done = run("-m", "penstock", "--v1", "program.py", cwd=tmp_path)
    assert done.stdout == "['1.15.5', '1.15.5']\n", done.stderr


@pytest.mark.slow
@needs("ray")
def test_ray(tmp_path):
    (tmp_path / "program.py").write_text("""
import ray
import tensorflow as tf
@ray.remote
def version():
    import tensorflow as tf
    return tf.__version__
ray.init(num_cpus=1, include_dashboard=False, logging_level="ERROR")
print(ray.get(version.remote()))
""")
    done = run("-m", "penstock", "--v2", "program.py", cwd=tmp_path, RAY_USAGE_STATS_ENABLED="0")
    assert done.stdout == "2.21.0\n", done.stderr


def test_the_environment_chooses(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import tensorflow as tf\nprint(tf.__version__)\n")
    for value, version in (("1", "1.15.5"), ("2", "2.21.0")):
        done = run("-m", "penstock", str(program), PENSTOCK_TENSORFLOW=value)
        assert (done.stdout, done.stderr) == (version + "\n", "")
        program_itself = run("-c", "import penstock.as_tensorflow, tensorflow as tf; print(tf.__version__)",
                             PENSTOCK_TENSORFLOW=value)
        assert (program_itself.stdout, program_itself.stderr) == (version + "\n", "")
    assert "must be 1 or 2" in run("-m", "penstock", str(program), PENSTOCK_TENSORFLOW="3").stderr


def test_a_program_that_imports_the_alias_is_read(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import penstock.as_tensorflow\nimport tensorflow as tf\n"
                       "print(tf.__version__, tf.Session.__name__)\n")
    done = run(str(program))
    assert done.stdout == "1.15.5 Session\n", done.stderr
    assert "program.py runs as TensorFlow 1.15.5 (it uses tf.Session" in done.stderr
    done = run("-c", "import penstock.as_tensorflow\nimport tensorflow as tf\nprint(tf.__version__)")
    assert done.stdout == "2.21.0\n" and "the program runs as TensorFlow 2.21.0" in done.stderr


def test_pytest_takes_the_alias_as_a_plug_in(tmp_path):
    (tmp_path / "test_it.py").write_text("""
import tensorflow as tf
def test_version():
    assert tf.__version__ == "1.15.5" and tf.placeholder
""")
    done = run("-m", "pytest", "-q", "-p", "penstock.as_tensorflow", "test_it.py", cwd=tmp_path)
    assert "1 passed" in done.stdout and "(test_it.py uses tf.placeholder" in done.stderr, done.stdout + done.stderr


@pytest.mark.slow
@needs("nbclient", "ipykernel")
@pytest.mark.parametrize("cell, version", [("import tensorflow as tf\ntf.placeholder(tf.float32)", "1.15.5"),
                                           ("import tensorflow as tf\ntf.constant(1).numpy()", "2.21.0")])
@pytest.mark.parametrize("first", ["%load_ext penstock", "import penstock.as_tensorflow"])
def test_a_notebook(tmp_path, monkeypatch, first, cell, version):
    import nbclient
    import nbformat
    cells = [first, cell, "print(tf.__version__)"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    nbformat.write(notebook, tmp_path / "it.ipynb")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(p for p in sys.path if p))
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "it.ipynb"))  # as a server tells its kernels
    nbclient.NotebookClient(notebook, timeout=100, kernel_name="python3").execute()
    assert notebook.cells[-1].outputs[0]["text"] == version + "\n"
