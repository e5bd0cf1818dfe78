"""All of tf.train in one module, as programs import it by its internal name."""
from penstock import v1


def __getattr__(name):
    return getattr(v1.train, name)
