"""`import penstock.as_tensorflow`: from then on `import tensorflow` gives Penstock.

The version is that of PENSTOCK_TENSORFLOW=1 or =2; without it the program's source decides, as by `python -m penstock`.
Must come before anything that imports TensorFlow. It cannot be undone in the process. pytest takes it as a plug-in:
`pytest -p penstock.as_tensorflow`.
"""
from penstock import alias
from penstock.alias import process

alias.install(alias.installed() or process.version())
