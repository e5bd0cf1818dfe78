"""The .pyi files that tools/stubs.py makes for the installed package: complete, and right for a type checker."""
import ast
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.api import lazy
from penstock._src.graph import gen

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The package as a wheel has it: sources with the stubs laid over them."""
    folder = tmp_path_factory.mktemp("site") / "penstock"
    shutil.copytree(ROOT / "python" / "penstock", folder, ignore=shutil.ignore_patterns("__pycache__"))
    stubs = folder.parent / "stubs"
    subprocess.run([sys.executable, ROOT / "tools" / "stubs.py", stubs], check=True,
                   env=dict(os.environ, PYTHONPATH=str(ROOT / "python")))
    shutil.copytree(stubs, folder, dirs_exist_ok=True)
    return folder


def names(stub):
    found = set()
    for node in ast.parse(stub.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            found.update(a.asname for a in node.names)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            found.add(node.target.id)
        elif isinstance(node, ast.Assign):
            found.add(node.targets[0].id)
    return found


@pytest.mark.parametrize("version, root", [("v1", "v1"), ("v2", ".")])
def test_every_public_name_has_a_line(package, version, root):
    rows = {}
    for table in lazy.tables(version):
        if table.startswith("_"):
            rows.update(lazy.read_table(version, table))
    assert len(rows) > 200 and set(rows) <= names(package / root / "__init__.pyi")
    assert {"AdamOptimizer", "Saver"} <= names(package / "v1" / "train" / "__init__.pyi")


def test_signatures_of_ops(package):
    functions = {n.name: n for n in ast.parse((package / "_src" / "graph" / "gen.pyi").read_text()).body
                 if isinstance(n, ast.FunctionDef)}
    for name in ("conv2d", "unique", "concat_v2", "no_op", "mat_mul"):
        node, real = functions[name], inspect.signature(getattr(gen, name))
        assert [a.arg for a in node.args.args] == list(real.parameters)
        assert len(node.args.defaults) == sum(p.default is not p.empty for p in real.parameters.values())
    assert [ast.unparse(functions[name].returns) for name in ("mat_mul", "unique")] == ["Tensor", "Unique"]


def test_the_package_finds_its_modules_beside_the_stubs(package):
    program = "import penstock, penstock.v1 as tf; print(tf.__file__ if hasattr(tf, '__file__') else tf.constant(1))"
    run = subprocess.run([sys.executable, "-c", program + "; print(penstock.nn.relu.__name__)"], capture_output=True,
                         text=True, env=dict(os.environ, PYTHONPATH=str(package.parent)), cwd=package.parent)
    assert run.returncode == 0 and run.stdout.split()[-1] == "relu", run.stderr


def test_a_build_has_all_that_the_package_needs():
    """pip builds in an environment of its own, and the build makes the stubs by importing the package."""
    listed = {key: set(re.findall(r'"([A-Za-z_-]+)', values)) for key, values in
              re.findall(r"^(requires|dependencies) = \[(.*)\]", (ROOT / "pyproject.toml").read_text(), re.M)}
    assert listed["dependencies"] and listed["dependencies"] <= listed["requires"]


WRONG = """
import penstock.v1 as tf
x = tf.raw_ops.MatMul(a=1, b=2)
(x + 1) * x
tf.raw_ops.Unique(x=x).idx
tf.nonsense
tf.train.NoOptimizer
tf.matmul()
tf.raw_ops.MatMul(a=x)
tf.Variable(1.0, nonsense=1)
x.nonsense()
"""


WRONG_OF_VERSION_TWO = """
import penstock.v2 as tf
x = tf.constant([1.0])
with tf.GradientTape() as tape:
    tape.watch(x)
tf.nn.relu(tf.reduce_sum(x * x + 1)).numpy(), tf.__version__.split(), tf.data.Dataset.range(3).map(lambda v: v + 1)
tf.compat.v1.placeholder(tf.float32, name="x")
tf.nonsense
tf.matmul()
"""


@pytest.fixture(scope="module")
def alias(package):
    """A folder with the package `tensorflow` of version 1 that `penstock alias --install` writes."""
    folder = package.parent / "alias"
    folder.mkdir()
    source = "import sys; sys.path.insert(0, sys.argv[1])\n" \
             "from penstock.alias import installer; installer.install(sys.argv[2], 'v1')"
    subprocess.run([sys.executable, "-c", source, str(package.parent), str(folder)], check=True)
    return folder


def complaints_of_mypy(package, alias, tmp_path, programs):
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=silent", "--ignore-missing-imports", "--check-untyped-defs",
         "--cache-dir", str(tmp_path / "cache"), *programs], capture_output=True, text=True, cwd=tmp_path,
        env={**{k: v for k, v in os.environ.items() if k != "PYTHONPATH"}, "MYPYPATH": f"{alias}:{package.parent}"})
    return [line for line in done.stdout.splitlines() if ": error:" in line] or done.stdout


def test_examples_are_clean_by_the_name_of_tensorflow(package, alias, tmp_path):
    """`tensorflow`, as installed, and penstock.v2 have types: no false error, and wrong programs are found."""
    pytest.importorskip("mypy")
    (tmp_path / "two.py").write_text(WRONG_OF_VERSION_TWO)
    (tmp_path / "named.py").write_text(WRONG.replace("penstock.v1", "tensorflow"))
    programs = sorted(map(str, (ROOT / "examples").rglob("*.py")))
    found = complaints_of_mypy(package, alias, tmp_path, ["two.py", "named.py", *programs])
    assert [line.rpartition(": error:")[0] for line in found if line.startswith("two.py")] == [
        "two.py:8", "two.py:9"], found
    lines = {line.split(":")[1] for line in found if line.startswith("named.py")}
    assert lines == {"6", "7", "8", "9", "10", "11"}, found
    assert all(line.startswith(("two.py", "named.py")) for line in found), found


@pytest.mark.slow
def test_pyright_agrees(package, alias, tmp_path):
    pytest.importorskip("pyright")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "examples" / "named.py").write_text(WRONG.replace("penstock.v1", "tensorflow"))
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({
        "extraPaths": [str(alias), str(package.parent)], "include": ["examples"], "reportMissingModuleSource": False}))
    done = subprocess.run([sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson"],
                          capture_output=True, text=True, cwd=tmp_path)
    found = [(os.path.basename(each["file"]), each["range"]["start"]["line"] + 1, each["message"])
             for each in json.loads(done.stdout)["generalDiagnostics"] if each["severity"] == "error"]
    assert {6, 7} <= {line for file, line, _ in found if file == "named.py"}, found
    assert not [each for each in found if each[0] != "named.py"], found


def test_a_type_checker_agrees(package, tmp_path):
    pytest.importorskip("mypy")
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG)
    programs = sorted(map(str, (ROOT / "examples").rglob("*.py")))
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=silent", "--ignore-missing-imports", "--check-untyped-defs",
         "--disable-error-code=var-annotated", "--disable-error-code=misc",
         "--cache-dir", str(tmp_path / "cache"), str(wrong), *programs], capture_output=True, text=True, cwd=tmp_path,
        env={**{k: v for k, v in os.environ.items() if k != "PYTHONPATH"}, "MYPYPATH": str(package.parent)})
    complaints = [line for line in run.stdout.splitlines() if ": error:" in line]
    assert {line.split(":")[1] for line in complaints} == {"6", "7", "8", "9", "10", "11"}, run.stdout
    assert all(line.startswith("wrong.py") for line in complaints), run.stdout
