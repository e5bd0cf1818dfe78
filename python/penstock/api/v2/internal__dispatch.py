"""tf.__internal__.dispatch."""
FROM = {
    "util.dispatch": "GlobalOpDispatcher OpDispatcher add_dispatch_support",
}
