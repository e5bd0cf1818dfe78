"""A process that is killed while it saves leaves the last complete checkpoint."""
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import penstock.v1 as tf

PROGRAM = """
import sys
import penstock.v1 as tf
prefix, numbered = sys.argv[1], sys.argv[2] == "numbered"
variables = [tf.get_variable("v%d" % i, [100000], initializer=tf.zeros_initializer()) for i in range(3)]
value = tf.placeholder(tf.float32, [])
update = [v.assign(tf.fill([100000], value)) for v in variables]
saver = tf.train.Saver(max_to_keep=2)
with tf.Session() as sess:
    step = 0
    while True:
        sess.run(update, {value: step})
        saver.save(sess, prefix, global_step=step if numbered else None, write_meta_graph=False)
        if step == 0:
            print("saved", flush=True)
        step += 1
"""


@pytest.mark.parametrize("names", ["numbered", "one"])
def test_killed_while_saving(tmp_path, names):
    for attempt in range(2):
        directory = tmp_path / str(attempt)
        directory.mkdir()
        process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(directory / "m"), names], stdout=subprocess.PIPE)
        assert process.stdout.readline() == b"saved\n"
        time.sleep(random.Random(attempt).uniform(0.01, 0.1))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        reader = tf.train.load_checkpoint(str(directory))
        values = {float(x) for name in ("v0", "v1", "v2") for x in np.unique(reader.get_tensor(name))}
        assert len(values) == 1
