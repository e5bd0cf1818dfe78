"""tf.contrib.compiler."""
NAMES = {"jit": "distribute.compiler.jit", "xla": "distribute.compiler.xla"}
