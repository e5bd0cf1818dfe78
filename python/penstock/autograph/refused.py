"""The parts of tensorflow.python.autograph from which programs build converters of their own; they are refused.

Libraries that would convert code if they were asked to can be imported: TensorFlow Probability is one.
"""


def __getattr__(name):
    raise AttributeError(f"{name}: there are no parts of AutoGraph here for converters of a program's own")


class Base:
    """What a program's own converter derives from. NotImplementedError when one is made."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__}: converters of a program's own are not there")
