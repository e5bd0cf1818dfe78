"""Trains a linear model with a parameter server and workers, each of them a process.

    python -m penstock examples/parameter_server.py                     # starts a server and a worker here
    python -m penstock examples/parameter_server.py --job ps --task 0 --ps host0:2222 --workers host1:2222,host2:2222

Each worker computes gradients of its batches and applies them to the server's variables, asynchronously.
"""
import argparse
import socket
import subprocess
import sys

import numpy as np
import tensorflow.compat.v1 as tf

STEPS = 400
WEIGHTS = np.array([[2.0], [-3.0], [0.5]], np.float32)


def start_tasks():
    """Starts a parameter server and a worker on free ports and waits for the worker. Returns its exit status."""
    sockets = [socket.socket() for _ in range(2)]
    for s in sockets:
        s.bind(("localhost", 0))
    ps, worker = [f"localhost:{s.getsockname()[1]}" for s in sockets]
    for s in sockets:
        s.close()

    def start(job, task):
        return subprocess.Popen([sys.executable, __file__, "--job", job, "--task", str(task), "--ps", ps,
                                 "--workers", worker])

    server = start("ps", 0)
    status = start("worker", 0).wait()
    server.kill()
    server.wait()
    return status


def run_task(job, task, cluster):
    """Serves as one task; a worker also trains."""
    server = tf.train.Server(cluster, job_name=job, task_index=task)
    if job == "ps":
        server.join()
    with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device=f"/job:worker/task:{task}")):
        x = tf.placeholder(tf.float32, [None, 3])
        y = tf.placeholder(tf.float32, [None, 1])
        w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
        step = tf.train.get_or_create_global_step()
        loss = tf.reduce_mean((tf.matmul(x, w) - y) ** 2)
        train = tf.train.GradientDescentOptimizer(0.05).minimize(loss, global_step=step)
    rng = np.random.RandomState(task)
    # A worker needs the parameter server only: it must not wait for workers that start later or are done.
    config = tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{task}"])
    with tf.train.MonitoredTrainingSession(server.target, is_chief=task == 0, config=config,
                                           hooks=[tf.train.StopAtStepHook(last_step=STEPS)]) as session:
        while not session.should_stop():
            features = rng.randn(32, 3).astype(np.float32)
            _, done, weights = session.run([train, step, w], {x: features, y: features @ WEIGHTS})
    print(f"worker {task}: step {done}, weights {np.round(weights.ravel(), 2).tolist()}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--job")
    parser.add_argument("--task", type=int, default=0)
    parser.add_argument("--ps", default="")
    parser.add_argument("--workers", default="")
    args = parser.parse_args()
    if args.job is None:
        sys.exit(start_tasks())
    run_task(args.job, args.task, tf.train.ClusterSpec({"ps": args.ps.split(","), "worker": args.workers.split(",")}))


if __name__ == "__main__":
    main()
