"""tf.__internal__.decorator."""
FROM = {
    "util.tf_decorator": "make_decorator unwrap",
}
