"""tf.__internal__.smart_cond."""
FROM = {
    "framework.smart_cond": "smart_cond",
}
