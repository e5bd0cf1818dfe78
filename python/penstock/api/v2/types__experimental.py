"""tf.types.experimental."""
FROM = {
    "eager.function_types": "Callable ConcreteFunction GenericFunction PolymorphicFunction TensorLike TraceType",
}
