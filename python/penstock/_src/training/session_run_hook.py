"""Hooks: what a program wants to do around each call of `run` of a monitored session."""
import collections


class SessionRunHook:
    """Base class. `begin` comes first, `end` last unless the training ended with an exception."""

    def begin(self):
        """Called once before the session is made: the last moment to change the graph."""

    def after_create_session(self, session, coord):
        """Called when a session was made, also after recovery: the graph may not change any more."""

    def before_run(self, run_context):
        """Called before each run: a SessionRunArgs with further fetches and feeds, or None."""
        return None

    def after_run(self, run_context, run_values):
        """Called after each run with the values that `before_run` asked for; not if the run failed."""

    def end(self, session):
        """Called once when the training ended without an exception."""


class SessionRunArgs(collections.namedtuple("SessionRunArgs", ["fetches", "feed_dict", "options"])):
    """What a hook adds to a run."""

    def __new__(cls, fetches, feed_dict=None, options=None):
        return super().__new__(cls, fetches, feed_dict, options)


class SessionRunContext:
    """What a hook sees of a run: the session, what is fetched and fed, and whether training is to stop."""

    def __init__(self, original_args, session):
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self):
        """The SessionRunArgs of the program's own call."""
        return self._original_args

    @property
    def session(self):
        """The session, without hooks."""
        return self._session

    @property
    def stop_requested(self):
        """Whether a hook asked to stop."""
        return self._stop_requested

    def request_stop(self):
        """Asks that training stops after this run."""
        self._stop_requested = True


class SessionRunValues(collections.namedtuple("SessionRunValues", ["results", "options", "run_metadata"])):
    """What a hook gets after a run: the values of its fetches, the options and metadata of the run."""
