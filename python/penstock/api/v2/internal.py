"""tf.__internal__: what Keras and other libraries of the family take from inside TensorFlow."""
FROM = {
    "framework.eager_tensor": "EagerTensor",
    "framework.composite_tensor": "CompositeTensor",
    "framework.func_graph": "FuncGraph",
}
