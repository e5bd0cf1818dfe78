"""Children that are forked while other threads compute do not hang."""
import os
import subprocess
import sys
import textwrap

import pytest

SCRIPT = textwrap.dedent("""
    import os, signal, sys, threading, time
    import numpy as np
    from penstock import v2 as tf

    FORKS, THREADS, SECONDS = 200, 4, 20

    def compute(n):
        # A little of everything: allocation, eager ops, a new graph, a session, a dataset.
        x = np.ones([n, n], np.float32)
        assert float(tf.linalg.matmul(tf.constant(x), tf.constant(x))[0, 0]) == n
        assert [int(e) for e in tf.data.Dataset.range(n).map(lambda i: i + 1).take(2)] == [1, 2]
        with tf.Graph().as_default():
            fed = tf.compat.v1.placeholder(tf.float32, [None, None])
            with tf.compat.v1.Session() as s:
                assert s.run(fed * 2.0, {fed: x})[0, 0] == 2.0

    def wait(child):
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                return status
            time.sleep(0.0005)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return "killed"

    def work(n):
        while not stop:
            compute(n)

    for _ in range(2):
        compute(200)  # imports what it needs: a child waits for ever for a module that another thread was importing
    stop = []
    threads = [threading.Thread(target=work, args=(60 * (i + 1),)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    failed = []
    for i in range(FORKS):
        child = os.fork()
        if child == 0:
            signal.alarm(SECONDS + 5)
            try:
                compute(40)
                os._exit(0)
            except BaseException as e:
                sys.stderr.write(repr(e))
                os._exit(1)
        status = wait(child)
        if status != 0:
            failed.append((i, status))
            if len(failed) > 2:
                break
    stop.append(True)
    for thread in threads:
        thread.join()
    sys.exit(repr(failed) if failed else 0)
""")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_children_compute_while_the_parent_does():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", SCRIPT], capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-2000:]
