"""The first screen of README runs as it is, in a virtual environment with only the package and its dependencies."""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import penstock
import penstock.v1 as tf

ROOT = Path(__file__).resolve().parents[3]
SCRIPT, MODEL, NOTEBOOK = re.findall(r"```\w+\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[:3]


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """The variables of a shell in which `penstock` is the command of a new virtual environment."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    site = next(folder.glob("lib/python*/site-packages"))
    for module in ("numpy", "ml_dtypes", "google", "numpy.libs"):
        for path in sys.path:
            if os.path.isdir(os.path.join(path, module)):
                (site / module).symlink_to(os.path.join(path, module))
                break
    (site / "penstock.pth").write_text(str(Path(penstock.__file__).resolve().parents[1]))
    command = folder / "bin" / "penstock"
    command.write_text(f"#!{folder}/bin/python\nimport sys\nfrom penstock.__main__ import main\nsys.exit(main())\n")
    command.chmod(0o755)
    kept = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PENSTOCK_TENSORFLOW")}
    return {**kept, "PATH": f"{folder}/bin:{os.environ['PATH']}"}


def shell(block, folder, environment):
    done = subprocess.run(["bash", "-e", "-c", block], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_script(tmp_path, environment):
    (tmp_path / "train.py").write_text("import sys\nimport tensorflow as tf\nx = tf.placeholder(tf.float32)\n"
                                       "print(sys.argv[1:], tf.Session().run(x * 2, {x: 3.0}))\n")
    out = shell(SCRIPT, tmp_path, environment)
    assert "no findings" in out and "['--steps', '3'] 6.0\n" in out and "usage: penstock" in out


def test_a_saved_model(tmp_path, environment):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        y = tf.matmul(x, tf.Variable([[1.0], [2.0]], name="w"), name="y")
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(tmp_path / "model"), {"x": x}, {"y": y})
    out = shell(MODEL, tmp_path, environment)
    assert "serving_default" in out and "20 steps" in out and (tmp_path / "model.pb").is_file()


def test_a_notebook():
    first, *rest = NOTEBOOK.splitlines()
    assert first == "%load_ext penstock"
    source = "\n".join(["import penstock.as_tensorflow", *rest])
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True,
                          env=dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p)))
    assert "tf.Tensor(3.0, shape=(), dtype=float32)" in done.stdout, done.stderr
