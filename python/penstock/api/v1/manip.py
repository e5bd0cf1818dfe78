"""tf.manip"""
FROM = {
    "ops.array_ops": "gather_nd reshape",
    "ops.manip_ops": "roll",
    "framework.gen": "batch_to_space_nd reverse=reverse_v2 scatter_nd space_to_batch_nd tile",
}
