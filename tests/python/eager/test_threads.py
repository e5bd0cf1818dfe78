"""Python's lock is given back by what computes or waits, so other threads go on."""
import subprocess
import sys
import textwrap
import threading
import time
import zlib

import numpy as np
import pytest

import penstock.v2 as tf

LEAST = 20  # turns of a thread that sleeps a millisecond in each; a kept lock allows some five


def turns_during(call):
    """How often another thread's loop goes round while `call` runs."""
    turns, ended = [0], threading.Event()

    def go_round():
        while not ended.is_set():
            time.sleep(0.001)
            turns[0] += 1

    other = threading.Thread(target=go_round)
    other.start()
    try:
        while not turns[0]:
            time.sleep(0.001)
        before = turns[0]
        call()
        return turns[0] - before
    finally:
        ended.set()
        other.join()


def last_one(text):
    """What a program prints last; a thread that waits for ever must not take the tests with it."""
    program = "import sys, threading, time\nimport numpy as np\nimport penstock.v2 as tf\n" + textwrap.dedent(text)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[-1]


@pytest.mark.usefixtures("version_two")
def test_a_gradient():
    x = tf.constant(np.ones((1200, 1200), np.float32) / 1200)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(20):
            y = tf.matmul(y, x)
    assert turns_during(lambda: tape.gradient(y, x)) >= LEAST


COMPRESSED = zlib.compress(b"\0" * 400_000_000, 1)


@pytest.mark.usefixtures("version_two")
@pytest.mark.parametrize("call", [
    lambda: tf.fill([40, 10_000_000], 1.0),
    lambda: tf.range(0, 200_000_000, dtype=tf.int64),
    lambda: tf.io.decode_compressed(COMPRESSED, "ZLIB"),
], ids=["fill", "range", "decompress"])
def test_a_large_result_of_small_inputs(call):
    assert turns_during(call) >= LEAST


@pytest.mark.usefixtures("version_two")
def test_long_strings():
    text = tf.constant(b"ab " * 10_000_000)
    assert turns_during(lambda: tf.strings.regex_replace(text, "a(b)", r"\1")) >= LEAST


@pytest.mark.parametrize("call", [
    "tf.raw_ops.PartitionedCall(args=[x], Tout=[tf.float32], f=f)[0]",
    "tf.raw_ops.If(cond=True, input=[x], Tout=[tf.float32], then_branch=f, else_branch=f)[0]",
    "tf.raw_ops.While(input=[x], cond=small, body=f)[0]",
], ids=["call", "If", "While"])
def test_a_gradient_that_calls_python(call):
    """The function runs on a thread of the runtime, which needs Python's lock."""
    assert last_one(f"""
        spec = tf.TensorSpec([], tf.float32)

        @tf.function(input_signature=[spec])
        def body(x):
            return x * tf.ensure_shape(tf.numpy_function(lambda v: 3 * v, [tf.stop_gradient(x)], tf.float32), [])

        f = body.get_concrete_function()
        small = tf.function(lambda x: x < 3, input_signature=[spec]).get_concrete_function()
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = {call}
        print(int(tape.gradient(y, x)))
    """) == "6"


def test_reset_and_close():
    """Closing a session ends steps that hold fed arrays, which takes Python's lock."""
    assert last_one("""
        import penstock.v1 as v1
        with v1.Graph().as_default():
            x = v1.placeholder(tf.float32, [None])
            y = v1.FIFOQueue(1, tf.float32, []).dequeue() + v1.reduce_sum(x)
            sys.setswitchinterval(100)  # who has the lock keeps it until it waits
            for _ in range(30):
                session = v1.Session()
                def run():
                    try:
                        session.run(y, {x: np.ones(300_000, np.float32)})
                    except tf.errors.CancelledError:
                        pass
                threads = [threading.Thread(target=run), threading.Thread(target=session.close)]
                threads[0].start()
                time.sleep(0.01)
                threads[1].start()
                v1.Session.reset("")
                for thread in threads:
                    thread.join()
        print("ended")
    """) == "ended"
