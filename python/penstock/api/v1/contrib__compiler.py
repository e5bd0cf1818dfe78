"""tf.contrib.compiler."""
NAMES = {"jit": "compiler.jit", "xla": "compiler.xla"}
