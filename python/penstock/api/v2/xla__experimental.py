"""tf.xla.experimental."""
FROM = {"distribute.compiler.jit": "jit_scope=experimental_jit_scope", "distribute.compiler.xla": "compile"}
