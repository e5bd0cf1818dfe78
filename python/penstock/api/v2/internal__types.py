"""tf.__internal__.types."""
FROM = {
    "framework.types": "Tensor=AnyTensor",
}
