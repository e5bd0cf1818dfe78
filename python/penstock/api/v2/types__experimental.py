"""tf.types.experimental."""
FROM = {
    "tf_function.public_types": """
        AtomicFunction Callable ConcreteFunction FunctionType GenericFunction PolymorphicFunction
        SupportsTracingProtocol TensorLike TraceType""",
}
