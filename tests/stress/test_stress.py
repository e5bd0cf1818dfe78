"""Many threads, sessions, queues, forks, closings and interrupts at a time, each kind in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).with_name("programs.py")
# kind: runs in each process, processes; of the short form and of the long one
SIZES = {
    "mixed": ((25, 1), (400, 4)),
    "building": ((30, 1), (60, 4)),
    "closing": ((15, 1), (200, 4)),
    "forking": ((10, 1), (200, 2)),
    "interrupts": ((15, 1), (300, 2)),
    "leaving": ((1, 3), (1, 60)),
}


def run(kind, size):
    runs, processes = size
    for seed in range(processes):
        # Freed memory is overwritten, so that a late reader does not find its old contents.
        environment = {**os.environ, "MALLOC_PERTURB_": "165"}
        result = subprocess.run([sys.executable, PROGRAMS, kind, str(seed), str(runs)], capture_output=True, text=True,
                                env=environment, timeout=290)
        described = f"{kind}, seed {seed}: exit status {result.returncode}\n{result.stdout}{result.stderr}"
        assert result.returncode == 0 and result.stdout == "right\n", described
        assert "Exception" not in result.stderr, described


@pytest.mark.parametrize("kind", SIZES)
def test_short(kind):
    run(kind, SIZES[kind][0])


@pytest.mark.slow
@pytest.mark.parametrize("kind", SIZES)
def test_long(kind):
    run(kind, SIZES[kind][1])
