"""What goes wrong when code is read or rewritten."""


class PyCTError(Exception):
    """The base of the others."""


class UnsupportedLanguageElementError(PyCTError, NotImplementedError):
    """Code of a kind that is not understood."""


class InaccessibleSourceCodeError(PyCTError, ValueError):
    """The source of a function is not there."""
