"""What a model function is called for."""


class ModeKeys:
    """Training, evaluation, prediction."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"
