"""Feature columns: from the features of examples to the inputs of a model. Programs of version 2 know this package as
tf.feature_column."""


def __getattr__(name):
    from penstock.api import version_two
    value = globals()[name] = version_two.of_package(__name__, name)
    return value


def __dir__():
    from penstock.api import version_two
    return version_two.names_of_package(__name__)
