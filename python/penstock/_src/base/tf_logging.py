"""tf.logging: the logger named "tensorflow"."""
import logging as _logging
import os as _os
import sys as _sys
import threading as _threading
from logging import DEBUG, ERROR, FATAL, INFO, WARN  # noqa: F401

_logger = None
_lock = _threading.Lock()
_counts = {}


def get_logger():
    """The logger; writes to stderr unless the program has set up logging."""
    global _logger
    if _logger is not None:
        return _logger
    with _lock:
        if _logger is None:
            logger = _logging.getLogger("tensorflow")
            if not _logging.getLogger().handlers:
                handler = _logging.StreamHandler(_sys.stderr)
                handler.setFormatter(_logging.Formatter(_logging.BASIC_FORMAT, None))
                logger.addHandler(handler)
                logger.propagate = False
            if logger.level == _logging.NOTSET:
                logger.setLevel(WARN)
            _logger = logger
    return _logger


def log(level, msg, *args, **kwargs):
    """Logs at a level."""
    get_logger().log(level, msg, *args, **kwargs)


def debug(msg, *args, **kwargs):
    """Logs at DEBUG."""
    get_logger().debug(msg, *args, **kwargs)


def error(msg, *args, **kwargs):
    """Logs at ERROR."""
    get_logger().error(msg, *args, **kwargs)


def fatal(msg, *args, **kwargs):
    """Logs at FATAL; the program goes on."""
    get_logger().fatal(msg, *args, **kwargs)


def info(msg, *args, **kwargs):
    """Logs at INFO."""
    get_logger().info(msg, *args, **kwargs)


def warning(msg, *args, **kwargs):
    """Logs at WARN."""
    get_logger().warning(msg, *args, **kwargs)


warn = warning

_LETTERS = {DEBUG: "I", INFO: "I", WARN: "W", ERROR: "E", FATAL: "F"}


def TaskLevelStatusMessage(msg):  # noqa: N802
    """Logs a status message as an error."""
    error(msg)


def flush():
    """Writes out what is buffered."""
    for handler in get_logger().handlers:
        handler.flush()


def vlog(level, msg, *args, **kwargs):
    """Logs at a numeric level."""
    get_logger().log(level, msg, *args, **kwargs)


def _count(key):
    _counts[key] = _counts.get(key, -1) + 1
    return _counts[key]


def log_every_n(level, msg, n, *args):
    """Logs the first of every `n` calls from one place."""
    log_if(level, msg, not _count(_caller()) % n, *args)


def log_first_n(level, msg, n, *args):
    """Logs the first `n` calls from one place."""
    log_if(level, msg, _count(_caller()) < n, *args)


def log_if(level, msg, condition, *args):
    """Logs if `condition` holds."""
    if condition:
        log(level, msg, *args)


def _caller():
    frame = _sys._getframe(2)
    return frame.f_code.co_filename, frame.f_lineno


def google2_log_prefix(level, timestamp=None, file_and_line=None):
    """The prefix of a line in the format of the C++ side."""
    import time
    now = timestamp or time.time()
    parts = time.localtime(now)
    where = file_and_line or _caller()
    return "%c%02d%02d %02d:%02d:%02d.%06d %5d %s:%d] " % (
        _LETTERS.get(level, "I"), parts.tm_mon, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
        int(now % 1 * 1e6), _threading.get_ident() % 100000, _os.path.basename(where[0]), where[1])


def get_verbosity():
    """The level below which nothing is logged."""
    return get_logger().getEffectiveLevel()


def set_verbosity(v):
    """Sets the level below which nothing is logged."""
    get_logger().setLevel(v)


def _get_thread_id():
    return _threading.get_ident()
