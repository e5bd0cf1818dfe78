"""What a model is called for, in the words of Keras and of estimators."""
import collections.abc


class KerasModeKeys:
    """Training, evaluation, prediction of Keras models."""
    TRAIN, TEST, PREDICT = "train", "test", "predict"


class EstimatorModeKeys:
    """Training, evaluation, prediction of estimators."""
    TRAIN, EVAL, PREDICT = "train", "eval", "infer"


def is_train(mode):
    """Whether a mode is training."""
    return mode in (KerasModeKeys.TRAIN, EstimatorModeKeys.TRAIN)


def is_eval(mode):
    """Whether a mode is evaluation."""
    return mode in (KerasModeKeys.TEST, EstimatorModeKeys.EVAL)


def is_predict(mode):
    """Whether a mode is prediction."""
    return mode in (KerasModeKeys.PREDICT, EstimatorModeKeys.PREDICT)


def _plain(mode):
    """Keras' word for a mode. ValueError if it is none."""
    for test, plain in ((is_train, KerasModeKeys.TRAIN), (is_eval, KerasModeKeys.TEST),
                        (is_predict, KerasModeKeys.PREDICT)):
        if test(mode):
            return plain
    raise ValueError("Invalid mode key: {}.".format(mode))


class ModeKeyMap(collections.abc.Mapping):
    """An immutable map from modes, in either's words. ValueError if a mode has two values."""

    def __init__(self, **kwargs):
        self._modes, self._values = list(kwargs), {}
        for mode, value in kwargs.items():
            if _plain(mode) in self._values:
                raise ValueError("Error creating ModeKeyMap. Multiple keys/values found for {} mode.".format(
                    _plain(mode)))
            self._values[_plain(mode)] = value

    def __getitem__(self, key):
        return self._values[_plain(key)]

    def __iter__(self):
        return iter(self._modes)

    def __len__(self):
        return len(self._modes)
