"""tools/build_progress.py with a ninja that only prints."""
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).resolve().parents[3] / "tools/build_progress.py"


def load():
    spec = importlib.util.spec_from_file_location("build_progress", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(tmp_path, script):
    ninja = tmp_path / "ninja"
    ninja.write_text("#!/bin/sh\n" + script)
    ninja.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run([sys.executable, str(TOOL), "-C", "x"], env=dict(os.environ, PATH=path), capture_output=True,
                          text=True)


def test_errors_and_the_status_are_kept(tmp_path):
    out = run(tmp_path, 'echo "ninja: Entering directory x"; echo "@1 2 Building CXX object a.o"; '
                        'echo "a.cc: error"; exit 3')
    assert (out.returncode, out.stdout, out.stderr) == (3, "a.cc: error\n", "")


def test_a_build_without_work_says_nothing(tmp_path):
    out = run(tmp_path, 'echo "ninja: no work to do."')
    assert (out.returncode, out.stdout) == (0, "")


def test_the_line_says_what_how_far_and_how_long():
    module = load()
    progress = module.Progress(0.0)
    step = "Building CXX object CMakeFiles/penstock_base.dir/src/penstock/base/status.cc.o"
    lines = [progress.line(2.0 * done, done, 100, step) for done in range(1, 51)]
    assert lines[0] == "Building, 1 of 100 steps (1 %): penstock/base/status.cc"
    assert lines[-1] == "Building, 50 of 100 steps (50 %), about 2 min left: penstock/base/status.cc"
    assert module.what("Linking CXX static library libpenstock_base.a") == "libpenstock_base.a"
