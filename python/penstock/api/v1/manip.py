"""tf.manip"""
FROM = {
    "core_ops.array_ops": "gather_nd reshape scatter_nd=scatter_nd_v1",
    "core_ops.manip_ops": "roll",
    "graph.gen": "batch_to_space_nd reverse=reverse_v2 space_to_batch_nd tile",
}
