"""Steps as the runtime runs them: straight lines, conditionals and loops, asynchronous kernels, calls, devices."""
import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.graph import gen
from penstock._src.control_flow import control_flow_ops


def counting_loop(limit, frame="loop", parallel_iterations=10):
    """i = 0; while i < limit: i += 1, made of frame ops."""
    def enter(value, constant=False):
        return gen.enter(value, frame_name=frame, is_constant=constant, parallel_iterations=parallel_iterations)
    start, bound, one = enter(tf.constant(0)), enter(limit, True), enter(tf.constant(1), True)
    merged = gen.merge([start, start])[0]
    done, more = gen.switch(merged, gen.loop_cond(gen.less(merged, bound)))
    step = gen.next_iteration(gen.add_v2(more, one))
    merged.op._update_input(1, step)
    return gen.exit(done)


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def test_conditional_takes_one_side():
    taken = tf.placeholder(tf.bool, [])
    on_false, on_true = gen.switch(tf.constant(5.0), taken)
    value, index = gen.merge([on_false * 2.0, on_true + 100.0])
    with tf.Session() as sess:
        assert sess.run([value, index], {taken: True}) == [105.0, 1]
        assert sess.run([value, index], {taken: False}) == [10.0, 0]


@pytest.mark.parametrize("pred", [False, True])
def test_a_merge_runs_though_what_it_waits_for_does_not(pred):
    with tf.Graph().as_default():
        which = tf.placeholder(tf.bool, [])
        on_false, on_true = control_flow_ops.switch(tf.constant(1.0), which)
        with tf.control_dependencies([tf.identity(on_false)]):
            merged, index = control_flow_ops.merge([on_false, on_true])
        with tf.Session() as sess:
            assert sess.run([merged + 1.0, index], {which: pred}) == [2.0, pred]


def test_dead_value_cannot_be_fetched():
    on_false, on_true = gen.switch(tf.constant(5.0), tf.constant(True))
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(on_false)
        assert sess.run(on_true) == 5.0


@pytest.mark.parametrize("limit", [0, 1, 7, 1000])
@pytest.mark.parametrize("parallel_iterations", [1, 2, 10])
def test_loop_of_frames(limit, parallel_iterations):
    with tf.Session() as sess:
        assert sess.run(counting_loop(tf.constant(limit), parallel_iterations=parallel_iterations)) == limit


def test_loop_on_the_side_that_is_not_taken():
    taken = tf.placeholder(tf.bool, [])
    on_false, on_true = gen.switch(tf.constant(3), taken)
    value = gen.merge([counting_loop(on_false), on_true])[0]
    with tf.Session() as sess:
        assert sess.run(value, {taken: True}) == 3
        assert sess.run(value, {taken: False}) == 3


def test_queue_waits_for_its_value():
    queue = tf.FIFOQueue(10, [tf.float32], shapes=[[]])
    enqueue, dequeue = queue.enqueue([3.0]), queue.dequeue()
    with tf.Session() as sess:
        got = []
        thread = threading.Thread(target=lambda: got.append(sess.run(dequeue)))
        thread.start()
        sess.run(enqueue)
        thread.join(20)
        assert got == [3.0]


def test_closing_a_session_ends_what_waits():
    dequeue = tf.FIFOQueue(10, [tf.float32], shapes=[[]]).dequeue()
    sess = tf.Session()
    failed = []

    def run():
        try:
            sess.run(dequeue)
        except tf.errors.CancelledError as e:
            failed.append(e)
    thread = threading.Thread(target=run)
    thread.start()
    while thread.is_alive() and not failed:
        sess.close()
        thread.join(0.1)
    assert len(failed) == 1


def test_timeout_of_a_step():
    dequeue = tf.FIFOQueue(10, [tf.float32], shapes=[[]]).dequeue()
    with tf.Session() as sess:
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(dequeue, options=tf.RunOptions(timeout_in_ms=50))


def test_values_cross_devices():
    with tf.device("/cpu:1"):
        a = tf.constant([1.0, 2.0]) * 3.0
        b = a + 1.0
    with tf.device("/cpu:0"):
        c = a * b
        with tf.control_dependencies([b]):
            d = tf.identity(c)
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        for _ in range(20):
            np.testing.assert_array_equal(sess.run(d), [12.0, 42.0])


def test_failure_on_one_device_ends_the_step():
    bad = tf.placeholder(tf.int32, [None])
    with tf.device("/cpu:1"):
        shaped = tf.reshape(tf.constant([1.0, 2.0]), bad)
    with tf.device("/cpu:0"):
        out = shaped + 1.0
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        for _ in range(20):
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(out, {bad: [7]})
            np.testing.assert_array_equal(sess.run(out, {bad: [1, 2]}), [[2.0, 3.0]])


def test_an_error_names_its_node_and_the_session_stays_usable():
    shape = tf.placeholder(tf.int32, [None])
    out = tf.reshape(tf.constant([1.0, 2.0]), shape, name="the_reshape")
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="the_reshape"):
            sess.run(out, {shape: [3]})
        np.testing.assert_array_equal(sess.run(out, {shape: [2, 1]}), [[1.0], [2.0]])


def test_a_cycle_is_refused():
    a = tf.constant(1.0) + 0.0
    b = a * 2.0
    a.op._update_input(1, b)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="cycle"):
        sess.run(b)


def test_many_threads_share_a_session():
    x = tf.placeholder(tf.float32, [None])
    y = tf.reduce_sum(tf.exp(x) * 2.0)
    failures = []
    with tf.Session() as sess:
        def work(k):
            for i in range(100):
                fed = np.full(k + 1, i / 100, np.float32)
                if not np.allclose(sess.run(y, {x: fed}), 2 * np.exp(fed).sum(), rtol=1e-4):
                    failures.append((k, i))
        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert not failures


def test_graph_def_round_trip_gives_the_same_values():
    x = tf.placeholder(tf.float32, [2], name="x")
    tf.square(x + 1.0, name="y")
    data = tf.get_default_graph().as_graph_def().SerializeToString()
    with tf.Graph().as_default():
        graph_def = tf.GraphDef()
        graph_def.ParseFromString(data)
        y, = tf.import_graph_def(graph_def, name="", return_elements=["y:0"])
        with tf.Session() as sess:
            np.testing.assert_array_equal(sess.run(y, {"x:0": [1, 2]}), [4.0, 9.0])


def run_python(code, send=None, seconds=60):
    """(return code, output) of a program; `send`: a signal, sent once it has printed a line."""
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, env=os.environ)
    try:
        first = process.stdout.readline()
        if send:
            process.send_signal(send)
        rest, _ = process.communicate(timeout=seconds)
        return process.returncode, first + rest
    finally:
        process.kill()


ENDLESS = {
    "queue": "run = tf.FIFOQueue(1, [tf.float32], shapes=[[]]).dequeue()",
    "loop": """
        from penstock._src.graph import gen
        enter = lambda v: gen.enter(v, frame_name='f')
        start = enter(tf.constant(0))
        merged = gen.merge([start, start])[0]
        zero = gen.enter(tf.constant(0), frame_name='f', is_constant=True)
        done, more = gen.switch(merged, gen.loop_cond(gen.greater_equal(merged, zero)))
        merged.op._update_input(1, gen.next_iteration(gen.identity(more)))
        run = gen.exit(done)""",
    # Constants are folded while the step is compiled.
    "folding": """
        import numpy as np
        run = x = tf.constant(np.ones((800, 800), "f"))
        for _ in range(3000):
            run = tf.matmul(run, x) / 800""",
    "python": """
        import time
        run = tf.py_func(lambda: time.sleep(1000) or 1.0, [], tf.float64)""",
}


@pytest.mark.parametrize("kind", sorted(ENDLESS))
def test_ctrl_c_ends_a_step(kind):
    code, out = run_python("""
        import os, signal
        import penstock.v1 as tf
        signal.signal(signal.SIGINT, signal.default_int_handler)  # what a background job's shell has switched off
        {endless}
        sess = tf.Session()
        sess.run(tf.constant(1.0))
        try:
            print('ready', flush=True)
            sess.run(run)
        except KeyboardInterrupt:
            print('interrupted', sess.run(tf.constant(2.0)), flush=True)
        os._exit(7)
    """.format(endless=textwrap.dedent(ENDLESS[kind]).replace("\n", "\n        ")), send=signal.SIGINT)
    assert "interrupted 2.0" in out and code == 7, out


def test_signals_do_not_disturb_matrix_products():
    code, out = run_python("""
        import signal, time
        import numpy as np
        import penstock as tf
        came = []
        signal.signal(signal.SIGALRM, lambda number, frame: came.append(number))
        x = tf.constant(np.ones((300, 300), np.float32))
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        end = time.monotonic() + 3
        while time.monotonic() < end:
            assert (x @ x)[0, 0] == 300
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert came
        raise SystemExit(7)
    """)
    assert code == 7, out


def test_fork_after_a_step():
    code, out = run_python("""
        import os
        import numpy as np
        import penstock.v1 as tf
        x = tf.placeholder(tf.float32, [None])
        y = tf.reduce_sum(tf.exp(x))
        queue = tf.FIFOQueue(10, [tf.float32], shapes=[[]])
        sess = tf.Session()
        big = np.zeros(1 << 22, np.float32)
        print(sess.run(y, {x: big}), flush=True)
        sess.run(queue.enqueue([1.0]))
        child = os.fork()
        if child == 0:
            ok = sess.run(y, {x: big}) == 1 << 22 and sess.run(queue.dequeue()) == 1.0
            os._exit(0 if ok else 1)
        raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """)
    assert code == 0, out
