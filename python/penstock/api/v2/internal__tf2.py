"""tf.__internal__.tf2."""
FROM = {
    "framework.tf2": "enabled",
}
