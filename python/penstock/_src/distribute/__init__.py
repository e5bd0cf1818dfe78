"""Clusters: who takes part. Strategies: where the replicas of a model run. Also tf.distribute of version 2."""


def __getattr__(name):
    from penstock.api import version_two
    return version_two.of_package(__name__, name)


def __dir__():
    from penstock.api import version_two
    return version_two.names_of_package(__name__)
