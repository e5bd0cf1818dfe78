"""tf.queue"""
FROM = {
    "ops.queues.data_flow_ops": "FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
}
