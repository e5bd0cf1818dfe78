"""tf.sets"""
FROM = {
    "ops.sparse.sets_impl": "set_difference set_intersection set_size set_union",
}
