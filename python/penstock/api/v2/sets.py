"""tf.sets, version 2."""
FROM = {
    "ops.sparse.sets_impl": "difference=set_difference intersection=set_intersection size=set_size union=set_union",
}
