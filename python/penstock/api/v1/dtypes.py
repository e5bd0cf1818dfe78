"""tf.dtypes: the types. The ops that convert them are in the rows of their family."""
FROM = {
    "graph.gen": "as_string",
}
