"""tf.manip"""
FROM = {
    "ops.array_ops": "gather_nd reshape scatter_nd=scatter_nd_v1",
    "ops.manip_ops": "roll",
    "framework.gen": "batch_to_space_nd reverse=reverse_v2 space_to_batch_nd tile",
}
