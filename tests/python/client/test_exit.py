"""Programs that end while other threads are in the middle of something: they end well, and soon."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

_PACKAGE = Path(__file__).resolve().parents[3] / "python"
_PROGRAMS = {
    "steps": """
        x = tf.placeholder(tf.float32, [400, 400])
        y = x
        for _ in range(300):
            y = tf.matmul(y, x) / 400
        s = tf.Session()
        fed = np.ones((400, 400), "f")
        started = threading.Semaphore(0)

        def run():
            started.release()
            while True:
                s.run(y, {x: fed})

        for _ in range(3):
            threading.Thread(target=run, daemon=True).start()
            started.acquire()
        time.sleep(0.2)
        """,
    # What is computed while a step is compiled takes longer than anybody would wait.
    "folding": """
        y = x = tf.constant(np.ones((800, 800), "f"))
        for _ in range(3000):
            y = tf.matmul(y, x) / 800
        s = tf.Session()
        threading.Thread(target=s.run, args=(y,), daemon=True).start()
        time.sleep(0.5)
        """,
    "waiting": """
        queue = tf.FIFOQueue(1, tf.float32)
        s = tf.Session()
        dequeue, enqueue = queue.dequeue(), queue.enqueue(1.0)
        tf.train.add_queue_runner(tf.train.QueueRunner(tf.FIFOQueue(2, tf.float32), [enqueue] * 2))
        tf.train.start_queue_runners(s)
        threading.Thread(target=lambda: [s.run(dequeue) for _ in range(10**6)], daemon=True).start()
        time.sleep(0.2)
        """,
    # A Python function that never returns.
    "python": """
        started = threading.Event()

        def endless(x):
            started.set()
            time.sleep(1000)
            return x

        y = tf.py_func(endless, [1.0], tf.float32)
        s = tf.Session()
        threading.Thread(target=lambda: s.run(y), daemon=True).start()
        started.wait(60)
        """,
    # The session is left by an exception that the interpreter's end makes.
    "generator": """
        def values():
            with tf.Session() as s:
                while True:
                    yield s.run(tf.constant(1.0))

        kept = values()
        next(kept)
        """,
    "eager": """
        tf.enable_v2_behavior()
        x = tf.constant(np.ones((600, 600), "f"))

        def run():
            while True:
                tf.matmul(x, x)

        threading.Thread(target=run, daemon=True).start()
        time.sleep(0.2)
        """,
    # The threads of the iterator are the parent's, and so is what the child does not wait for.
    "forked": """
        import os, sys
        dataset = tf.data.Dataset.range(100).map(lambda x: x + 1, 2).prefetch(2)
        s = tf.Session()
        s.run(tf.data.make_one_shot_iterator(dataset).get_next())
        child = os.fork()
        if child == 0:
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        """,
}


@pytest.mark.parametrize("name", _PROGRAMS)
def test_the_end(name):
    program = "import threading, time\nimport numpy as np\nimport penstock.v1 as tf\n"
    program += textwrap.dedent(_PROGRAMS[name])
    done = subprocess.run(
        [sys.executable, "-c", program + "print('the end', flush=True)\n"],
        env={**os.environ, "PYTHONPATH": str(_PACKAGE)},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "the end\n", "")
