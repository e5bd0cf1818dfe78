"""tf.types.experimental."""
FROM = {
    "eager.function_types": """
        Callable ConcreteFunction FunctionType GenericFunction PolymorphicFunction TensorLike TraceType""",
}
