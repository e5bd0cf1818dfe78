"""tf.bitwise"""
FROM = {
    "graph.gen": "bitwise_and bitwise_or bitwise_xor invert left_shift right_shift",
}
