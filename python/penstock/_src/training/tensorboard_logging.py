"""Messages that go to the log and, from a level on, into an event file."""
import time

from penstock._src.base import tf_logging as logging
from penstock.proto import event_pb2

DEBUG, INFO, WARN, ERROR, FATAL = "DEBUG", "INFO", "WARN", "ERROR", "FATAL"

_LEVELS = {  # those of messages in events, and those of the log
    DEBUG: (event_pb2.LogMessage.DEBUGGING, logging.DEBUG),
    INFO: (event_pb2.LogMessage.INFO, logging.INFO),
    WARN: (event_pb2.LogMessage.WARN, logging.WARN),
    ERROR: (event_pb2.LogMessage.ERROR, logging.ERROR),
    FATAL: (event_pb2.LogMessage.FATAL, logging.FATAL),
}
_UNSET = object()

_verbosity, _summary_writer = WARN, _UNSET


def _check(level):
    if level not in _LEVELS:
        raise ValueError("Level %s is not a valid tensorboard_logging level" % level)


def get_verbosity():
    """The lowest level that goes into the event file."""
    return _verbosity


def set_verbosity(verbosity):
    """Sets the lowest level that goes into the event file. ValueError if it is none."""
    global _verbosity
    _check(verbosity)
    _verbosity = verbosity


def set_summary_writer(summary_writer):
    """Sets the FileWriter; None: messages go to the log only."""
    global _summary_writer
    _summary_writer = summary_writer


def _clear_summary_writer():
    set_summary_writer(_UNSET)


def log(level, message, *args):
    """Logs `message % args`. RuntimeError without `set_summary_writer`; ValueError for an unknown level."""
    if _summary_writer is _UNSET:
        raise RuntimeError("Must call set_summary_writer before doing any logging from tensorboard_logging")
    _check(level)
    in_event, in_log = _LEVELS[level]
    if in_event >= _LEVELS[_verbosity][0] and _summary_writer:
        _summary_writer.add_event(event_pb2.Event(
            wall_time=time.time(), log_message=event_pb2.LogMessage(level=in_event, message=message % args)))
    logging.log(in_log, message, *args)


def debug(message, *args):
    """Logs at DEBUG."""
    log(DEBUG, message, *args)


def info(message, *args):
    """Logs at INFO."""
    log(INFO, message, *args)


def warn(message, *args):
    """Logs at WARN."""
    log(WARN, message, *args)


def error(message, *args):
    """Logs at ERROR."""
    log(ERROR, message, *args)


def fatal(message, *args):
    """Logs at FATAL."""
    log(FATAL, message, *args)
