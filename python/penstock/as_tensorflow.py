"""`import penstock.as_tensorflow`: from then on `import tensorflow` gives Penstock, as version 1.15.5.

Must come before anything that imports TensorFlow. It cannot be undone in the process.
"""
from penstock import alias

alias.install(alias.installed() or "v1")
