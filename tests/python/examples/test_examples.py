"""Every program of examples/ runs with small settings: on Penstock, and on TensorFlow where there is one.

PENSTOCK_TF1_PYTHON names a Python that has TensorFlow 1.15.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"
TENSORFLOW = os.environ.get("PENSTOCK_TF1_PYTHON")
IMAGES = Path("/usr/share/datasets/fashion-mnist")

# Program and arguments -> what its output must contain, as regular expressions, in this order.
RUNS = {
    "first_programs/constants.py": [
        r"Tensor\(\"length:0\", shape=\(\), dtype=float32\)", r"after it ran: +5\.0", r"7\.0"],
    "first_programs/placeholder_and_variable.py": [r"gives +10\.0", r"gives +15\.5", r"kept: 13\.5"],
    "first_programs/graph_def.py": [r'name: "layer/w"', r'op: "Relu"', r"copy/layer/y:0 = \[\[2\.0\], \[0\.0\]\]"],
    "first_programs/eval_loss.py": [r"at first: loss 1\.4667", r"at last:  loss 0\.0000, w 2\.000"],
    "linear_regression.py": [
        r"found: \[ 2\.016 -3\.026  0\.507  3\.988\]",
        r"exact: \[ 2\.016 -3\.026  0\.507  3\.988\]"],
    "eager_spirals.py --steps 60": [
        r"op by op +loss 0\.\d+ +[6-9]\d\.\d % right", r"tf\.function +loss 0\.\d+",
        r"losses: (0\.0e|\d\.\de-0[4-9])",
        r"along the curvature +loss 0\.[0-6]"],
    "wide_and_deep.py --steps 40": [
        r"step 40: right 0\.\d+ \(always no: 0\.854\)", r"20, Basel, cocoa comes back: +\d+ %", r"70, Chur , tea "],
    "vgg19_devices.py --image 32 --width 4": [
        r"VGG19: \d+ nodes, 0\.4 million parameters", r"has .*CPU:1", r"most likely class \d+",
        r"CPU:0 ran \d+ nodes", r"block1_conv2 ", r"block5_conv4 ",
        r"CPU:1 ran \d+ nodes", r"block2_conv1 ", r"block4_conv4 "],
    "parameter_server.py": [r"worker 0: step (399|400), weights \[2\.0, -3\.0, 0\.5\]"],
    "towers.py --steps 20": [
        r"step +0  one device 3\.0914\d+  2 towers 3\.0914", r"largest relative difference: \d\.\de-0[5-9]"],
    "towers.py --steps 10 --towers 3": [r"3 towers", r"largest relative difference: \d\.\de-0[5-9]"],
    "char_lstm.py --steps 80": [r"step +0  loss 3\.\d+", r"lost [5-9]\d % of the first loss", r"it writes: \w"],
    "reverse_seq2seq.py --steps 120": [r"step +0  loss 2\.\d+", r"backwards: \[", r"right: ([6-9]\d|100) %"],
    "word2vec.py --steps 200": [
        r"580 words, 121 of them different", r"vectors: IndexedSlices", r"biases: IndexedSlices", r"step 200  loss \d",
        r"monday +is like \w+"],
}


VERSION_2 = {"eager_spirals.py"}


def run(python, program, arguments, cwd):
    """What a program prints."""
    if python is None:
        command = [sys.executable, "-m", "penstock", "--v2" if program in VERSION_2 else "--v1"]
        path = os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")])
        environment = dict(os.environ, PYTHONPATH=path)
    else:
        command = [python]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        environment.update(TF_CPP_MIN_LOG_LEVEL="3", PYTHONWARNINGS="ignore")
    done = subprocess.run(command + [str(EXAMPLES / program)] + arguments, env=environment, cwd=cwd, timeout=280,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(params=["penstock", "tensorflow"])
def python(request):
    if request.param == "penstock":
        return None
    if not TENSORFLOW:
        pytest.skip("PENSTOCK_TF1_PYTHON names no Python with TensorFlow 1.15")
    return TENSORFLOW


@pytest.mark.parametrize("line", RUNS)
def test_runs(line, python, tmp_path):
    program, *arguments = line.split()
    if python is not None and program in VERSION_2:
        pytest.skip("a program of TensorFlow 2")
    printed = run(python, program, arguments, tmp_path)
    at = 0
    for wanted in RUNS[line]:
        found = re.compile(wanted).search(printed, at)
        assert found, (wanted, printed[at:])
        at = found.end()


@pytest.mark.skipif(not IMAGES.exists(), reason="dataset-fashion-mnist is not installed")
@pytest.mark.parametrize("model, steps, least", [("mlp", 400, 80.0), ("cnn", 60, 65.0)])
def test_fashion_mnist_trains_and_is_loaded_again(model, steps, least, python, tmp_path):
    saved = ["--model", model, "--directory", str(tmp_path)]
    printed = run(python, "fashion_mnist.py", saved + ["--steps", str(steps)], tmp_path)
    assert "step %d/%d" % (steps, steps) in printed and "images/s" in printed
    assert 'op: "MatMul"' in (tmp_path / (model + ".pbtxt")).read_text()
    printed = run(python, "fashion_mnist.py", saved + ["--evaluate"], tmp_path)
    accuracy = float(re.search(r"test accuracy of the saved %s: ([\d.]+) %%" % model, printed).group(1))
    assert least < accuracy < 95.0


@pytest.mark.skipif(not IMAGES.exists(), reason="dataset-fashion-mnist is not installed")
def test_a_killed_pipeline_goes_on_at_the_exact_element(tmp_path):
    """Each step of the interrupted training, also beyond the first epoch, has the batch and the loss that it has in
    one that was not."""
    def steps(directory, *arguments):
        log = tmp_path / (directory + ".log")
        command = [sys.executable, "-m", "penstock", "--v1", str(EXAMPLES / "input_pipeline.py"), "--images", "2400",
                   "--steps", "50", "--save-every", "16", "--directory", str(tmp_path / directory), "--log", str(log)]
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(ROOT / "python"),
                                                                  os.environ.get("PYTHONPATH", "")]))
        done = subprocess.run(command + list(arguments), env=environment, capture_output=True, text=True, timeout=200)
        return done, log.read_text().splitlines()

    done, whole = steps("whole")
    assert done.returncode == 0, done.stderr[-3000:]
    assert re.search(r"test accuracy: [5-9]\d\.\d\d %", done.stdout) and len(whole) == 50
    done, first = steps("killed", "--kill-at", "43")
    assert done.returncode == -9 and "killed at step 43" in done.stdout and first == whole[:43]
    done, both = steps("killed")
    assert done.returncode == 0 and "model-32" in done.stdout, done.stderr[-3000:]
    assert both[43:] == whole[32:]


def test_every_example_is_run_here():
    named = {line.split()[0] for line in RUNS} | {"fashion_mnist.py", "input_pipeline.py"}
    assert named == {str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*.py")}
