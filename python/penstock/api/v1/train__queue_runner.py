"""tf.train.queue_runner."""
FROM = {"training.queue_runner": "QueueRunner add_queue_runner start_queue_runners"}
