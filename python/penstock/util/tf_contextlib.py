"""contextmanager, under the name at which programs look for it."""
from contextlib import contextmanager  # noqa: F401
