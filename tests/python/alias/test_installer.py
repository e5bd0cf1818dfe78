"""penstock alias --install in a separate virtual environment: every way to look for TensorFlow finds Penstock."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

import penstock
from penstock.alias import installer


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Python of a new environment that sees the packages of this one."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    site = next(folder.glob("lib/python*/site-packages"))
    home = Path(penstock.__file__).resolve().parents[1]
    (site / "others.pth").write_text("\n".join(p for p in [str(home), *sys.path] if p and os.path.isdir(p)))
    return folder / "bin" / "python", site


def run(environment, *arguments, **more):
    python = environment[0]
    clean = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PENSTOCK_TENSORFLOW")}
    return subprocess.run([str(python), *arguments], capture_output=True, text=True, timeout=100,
                          env={**clean, "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}", **more})


def test_everything_finds_it_and_nothing_is_left(environment):
    site = environment[1]
    before = sorted(os.listdir(site))
    done = run(environment, "-m", "penstock", "alias", "--install", "--v1")
    assert done.returncode == 0 and "tensorflow 1.15.5 is Penstock" in done.stdout, done.stderr
    done = run(environment, "-c", "from importlib.metadata import version\nprint(version('tensorflow'))\n"
               "from tensorflow.python.framework import ops\nimport tensorflow as tf\n"
               "print(tf.__version__, version('tensorflow'))")
    assert done.stdout == "1.15.5\n1.15.5 1.15.5\n", done.stderr
    assert "show" in run(environment, "-m", "tensorflow.python.tools.saved_model_cli", "--help").stdout
    script = subprocess.run([environment[0].with_name("saved_model_cli"), "--help"], capture_output=True, text=True)
    assert "show" in script.stdout, script.stderr
    # Again, of the other version; the environment variable goes before.
    assert run(environment, "-m", "penstock", "alias", "--install").returncode == 0
    program = "import tensorflow as tf; print(tf.__version__, hasattr(tf, 'placeholder'))"
    assert run(environment, "-c", program, PENSTOCK_TENSORFLOW="1").stdout == "1.15.5 True\n"
    assert run(environment, "-c", program).stdout == "2.21.0 False\n"
    assert len([name for name in os.listdir(site) if name.endswith(".dist-info")]) == 1
    assert run(environment, "-m", "penstock", "alias", "--uninstall").returncode == 0
    assert sorted(os.listdir(site)) == before and not environment[0].with_name("saved_model_cli").exists()
    assert run(environment, "-c", "import tensorflow").returncode == 1
    assert run(environment, "-m", "penstock", "alias", "--uninstall").returncode == 1


@pytest.mark.parametrize("name", ["tensorflow", "tensorflow_cpu"])
def test_tensorflow_is_not_overwritten(tmp_path, name):
    (tmp_path / f"{name}-2.15.0.dist-info").mkdir()
    (tmp_path / f"{name}-2.15.0.dist-info" / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 2.15.0\n")
    with pytest.raises(installer.Refused, match="2.15.0 is installed"):
        installer.install(str(tmp_path))
    assert len(os.listdir(tmp_path)) == 1
    assert not installer.uninstall(str(tmp_path))


def test_a_folder_of_that_name_is_not_overwritten(tmp_path):
    (tmp_path / "tensorflow").mkdir()
    with pytest.raises(installer.Refused, match="no alias"):
        installer.install(str(tmp_path))


def test_the_system_s_python_is_left_alone(monkeypatch):
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    with pytest.raises(installer.Refused, match="--system"):
        installer.site()
    assert installer.site(system=True)
