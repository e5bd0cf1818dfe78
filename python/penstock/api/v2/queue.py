"""tf.queue, version 2."""
FROM = {
    "ops.data_flow_ops": "FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
}
