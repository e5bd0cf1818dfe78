"""`import tensorflow` gives Penstock: this folder is on the path of the child processes of a program that it runs."""
try:
    from penstock.alias import children
except ImportError:  # another Python, which may have TensorFlow
    import os
    import sys
    folder = os.path.realpath(os.path.dirname(__path__[0]))
    sys.path[:] = [each for each in sys.path if os.path.realpath(each) != folder]
    del sys.modules["tensorflow"]
    import tensorflow  # noqa: F401
else:
    children.take_over()
