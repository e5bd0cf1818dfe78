"""tf.__internal__.tf2."""
FROM = {
    "base.tf2": "enabled",
}
