"""tf.xla.experimental."""
FROM = {"compiler.jit": "jit_scope=experimental_jit_scope", "compiler.xla": "compile"}
