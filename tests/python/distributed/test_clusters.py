"""Clusters whose tasks are processes, of Penstock and, where interpreters with it are named, of TensorFlow."""
import itertools
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cluster  # noqa: E402

PROGRAM = pathlib.Path(__file__).with_name("client_program.py")
# Printed by TensorFlow 2.21, and by 1.15.5, in all three places.
EXPECTED = r"""loss 0.1664, step 50
queue [[1.0, 2.0], b'h\xc3\xa9llo']
rows [[8.0, 9.0], [2.0, 3.0], [8.0, 9.0]] [9.0, 10.0]
values [1, 2, True, (1+2j), 3, 1.5, 2.5, 9.0, [b'a', b'', b'cccccccccccccccccccccccccccccc'], []] 10000000.0
branch 3.0 1.0
size 4
error True True
error True True
devices ['/job:ps/replica:0/task:0/device:CPU:0', '/job:worker/replica:0/task:0/device:CPU:0']
trace ['/job:ps/replica:0/task:0/device:CPU:0', '/job:worker/replica:0/task:0/device:CPU:0'] 2
again 51
"""


LOOP = "loop True 285.0\n"


def run(client, ps, worker, master="worker", *args):
    with cluster.Cluster({"ps": 1, "worker": 1}, {"ps": ps, "worker": worker}) as tasks:
        return tasks.run_client(client, PROGRAM, tasks.target(master), *args)


@pytest.mark.parametrize("master", ["ps", "worker"])
def test_all_edges_between_two_tasks(master):
    assert run("penstock", "penstock", "penstock", master, "loops") == LOOP + EXPECTED


@pytest.mark.slow
@pytest.mark.parametrize("client, ps, worker", [
    places for other in ("tensorflow", "tensorflow1")
    for places in itertools.product(("penstock", other), repeat=3) if {*places} == {"penstock", other}])
def test_all_edges_between_tasks_of_two_libraries(client, ps, worker):
    if not (cluster.TENSORFLOW_1 if "tensorflow1" in (client, ps, worker) else cluster.TENSORFLOW):
        pytest.skip("PENSTOCK_TEST_TENSORFLOW or PENSTOCK_TEST_TENSORFLOW_1 names no interpreter")
    assert run(client, ps, worker) == EXPECTED


# Printed by TensorFlow 2.21 in both places.
FUNCTIONS = """[[10.0, 10.0]]
[[8.0, 8.0]]
[[30.0, 38.0]]
[[10.0, 10.0], [20.0, 28.0], [11.0, 19.0]]
[[11.0, 19.0]]
[2]
[12]
[22, [11.0, 19.0]]
"""


@pytest.mark.slow
def test_functions_that_tensorflow_optimizes_with_each_step():
    if not cluster.TENSORFLOW:
        pytest.skip("PENSTOCK_TEST_TENSORFLOW names no interpreter")
    program = pathlib.Path(__file__).with_name("function_program.py")
    with cluster.Cluster({"ps": 1, "worker": 1}, {"worker": "tensorflow"}) as tasks:
        assert tasks.run_client("tensorflow", program, tasks.target("worker")) == FUNCTIONS
