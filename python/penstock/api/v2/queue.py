"""tf.queue, version 2."""
FROM = {
    "ops.queues.data_flow_ops": "FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
}
