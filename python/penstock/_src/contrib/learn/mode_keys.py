"""tf.contrib.learn.ModeKeys."""


class ModeKeys:
    """What a model function is called for; `infer` where tf.estimator says predict."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"

    @classmethod
    def validate(cls, key):
        """ValueError for another mode."""
        if key not in (cls.TRAIN, cls.EVAL, cls.INFER):
            raise ValueError("Invalid mode %s." % key)
