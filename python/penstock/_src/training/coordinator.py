"""Coordinator: lets threads stop together and carries the exception of one of them to whoever joins them."""
import contextlib
import sys
import threading
import time

from penstock._src.graph import errors
from penstock._src.base import tf_logging as logging
from penstock._src.base import compat


class Coordinator(object):
    """Threads ask `should_stop` and any of them may call `request_stop`; `join` waits and reports what went wrong.

    Exceptions of `clean_stop_exception_types` (by default OutOfRangeError, the end of input) ask for a stop without
    being
    an error.
    """

    def __init__(self, clean_stop_exception_types=None):
        if clean_stop_exception_types is None:
            clean_stop_exception_types = (errors.OutOfRangeError,)
        self._clean_stop_exception_types = tuple(clean_stop_exception_types)
        self._lock = threading.Lock()
        self._stop_event = threading.Event()
        self._exc_info_to_raise = None
        self._joined = False
        self._registered_threads = set()

    def request_stop(self, ex=None):
        """Asks all threads to stop. `ex`, an exception or a sys.exc_info(), is raised again by `join`; the first
        wins."""
        with self._lock:
            if isinstance(ex[1] if isinstance(ex, tuple) else ex, self._clean_stop_exception_types):
                ex = None
            if self._joined and ex is not None:
                # Nobody will join again, so the caller gets it.
                _reraise(ex if isinstance(ex, tuple) else sys.exc_info())
            if self._stop_event.is_set():
                return
            if ex and self._exc_info_to_raise is None:
                if isinstance(ex, tuple):
                    logging.info("Error reported to Coordinator: %s", compat.as_str_any(ex[1]), exc_info=ex)
                    self._exc_info_to_raise = ex
                else:
                    logging.info("Error reported to Coordinator: %s, %s", type(ex), compat.as_str_any(ex))
                    self._exc_info_to_raise = sys.exc_info()
                info = self._exc_info_to_raise
                if len(info) != 3 or not info[0] or not info[1]:
                    try:
                        raise ValueError("ex must be a tuple or sys.exc_info must return the current exception: %s" %
                                         (info,))
                    except ValueError:
                        self._exc_info_to_raise = sys.exc_info()
            self._stop_event.set()

    def clear_stop(self):
        """Makes the coordinator as new; `should_stop` is False again."""
        with self._lock:
            self._joined = False
            self._exc_info_to_raise = None
            self._stop_event.clear()

    def should_stop(self):
        """Whether a stop was asked for."""
        return self._stop_event.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self):
        """An exception inside asks for a stop and goes no further."""
        try:
            yield
        except BaseException:  # also what a thread ends with on exit of the program
            self.request_stop(ex=sys.exc_info())

    def wait_for_stop(self, timeout=None):
        """Waits until a stop is asked for, at most `timeout` seconds; whether it was."""
        return self._stop_event.wait(timeout)

    def register_thread(self, thread):
        """Makes `join` wait for the thread too."""
        with self._lock:
            self._registered_threads.add(thread)

    def join(self, threads=None, stop_grace_period_secs=120, ignore_live_threads=False):
        """Waits for the threads; raises the exception that was reported.

        After a stop was asked for, threads have `stop_grace_period_secs` to end. RuntimeError names those that have
        not,
        unless `ignore_live_threads`.
        """
        with self._lock:
            threads = list(self._registered_threads.union(threads or ()))
        while any(t.is_alive() for t in threads) and not self.wait_for_stop(1.0):
            pass
        # Most threads end at once, some take long: wait longer and longer.
        wait = 0.001
        while any(t.is_alive() for t in threads) and stop_grace_period_secs >= 0.0:
            time.sleep(wait)
            stop_grace_period_secs -= wait
            wait = max(min(2 * wait, stop_grace_period_secs), 0.001)
        stragglers = [t.name for t in threads if t.is_alive()]
        with self._lock:
            self._joined = True
            self._registered_threads = set()
            if self._exc_info_to_raise:
                _reraise(self._exc_info_to_raise)
            if stragglers:
                message = "Coordinator stopped with threads still running: %s" % " ".join(stragglers)
                if not ignore_live_threads:
                    raise RuntimeError(message)
                logging.info(message)

    @property
    def joined(self):
        return self._joined

    def raise_requested_exception(self):
        """Raises the exception that was reported, if any."""
        with self._lock:
            if self._exc_info_to_raise:
                _reraise(self._exc_info_to_raise)


def _reraise(info):
    raise info[1].with_traceback(info[2])


class LooperThread(threading.Thread):
    """A thread that calls `run_loop` (or `target`) again and again until its coordinator stops.

    `timer_interval_secs`: time from call to call; None: no pause.
    """

    def __init__(self, coord, timer_interval_secs, target=None, args=None, kwargs=None):
        if not isinstance(coord, Coordinator):
            raise ValueError("'coord' argument must be a Coordinator: %s" % coord)
        if (args or kwargs) and not target:
            raise ValueError("'args' and 'kwargs' argument require that you also pass 'target'")
        super().__init__()
        self.daemon = True
        self._coord = coord
        self._timer_interval_secs = timer_interval_secs
        self._target = target
        self._args = args or ()
        self._kwargs = kwargs or {}
        self._coord.register_thread(self)

    @staticmethod
    def loop(coord, timer_interval_secs, target, args=None, kwargs=None):
        """A started LooperThread."""
        looper = LooperThread(coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        looper.start()
        return looper

    def run(self):
        with self._coord.stop_on_exception():
            self.start_loop()
            if self._timer_interval_secs is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:
                next_time = time.time()
                while not self._coord.wait_for_stop(next_time - time.time()):
                    next_time += self._timer_interval_secs
                    self.run_loop()
            self.stop_loop()

    def start_loop(self):
        """Called once before the first call."""

    def stop_loop(self):
        """Called once after the last call."""

    def run_loop(self):
        """One round: calls the target."""
        if self._target:
            self._target(*self._args, **self._kwargs)
