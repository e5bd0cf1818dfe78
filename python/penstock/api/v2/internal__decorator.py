"""tf.__internal__.decorator."""
FROM = {
    "base.tf_decorator": "make_decorator unwrap",
}
