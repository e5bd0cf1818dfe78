"""tf.sets"""
FROM = {
    "ops.sparse.sets_impl": """
        difference=set_difference intersection=set_intersection set_difference set_intersection set_size
        set_union size=set_size union=set_union""",
}
