"""tf.queue"""
FROM = {
    "ops.data_flow_ops": "FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
}
