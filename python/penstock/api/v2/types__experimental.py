"""tf.types.experimental."""
FROM = {
    "tf_function.function_types": """
        AtomicFunction Callable ConcreteFunction FunctionType GenericFunction PolymorphicFunction
        SupportsTracingProtocol TensorLike TraceType""",
}
