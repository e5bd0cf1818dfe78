"""tf.types.experimental."""
FROM = {
    "eager.function_types": """
        AtomicFunction Callable ConcreteFunction FunctionType GenericFunction PolymorphicFunction
        SupportsTracingProtocol TensorLike TraceType""",
}
