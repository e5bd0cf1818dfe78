"""tf.io.gfile."""
FROM = {
    "files.gfile": """
        GFile copy exists get_registered_schemes glob isdir join listdir makedirs mkdir remove rename rmtree
        stat=stat_v2 walk""",
}
