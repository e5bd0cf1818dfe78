"""tf.__internal__.types."""
FROM = {
    "graph.types": "Tensor=AnyTensor",
}
