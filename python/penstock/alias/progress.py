"""penstock run --progress: steps per second, memory and the program's current line, on stderr."""
import os
import signal
import sys
import threading
import time

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_SECONDS = 10.0


class _Progress:
    """Counts the steps of sessions and the outer calls of functions, and prints them."""

    def __init__(self):
        self.steps, self._before = 0, (time.perf_counter(), 0)
        self._started = time.perf_counter()
        self._main = threading.main_thread().ident or 0

    def count(self, run):
        """`run`, counted."""
        def counted(*args, **kwargs):
            self.steps += 1
            return run(*args, **kwargs)
        counted.__name__, counted.__doc__ = run.__name__, run.__doc__
        return counted

    def line(self):
        """The text of now."""
        now, (then, steps) = time.perf_counter(), self._before
        self._before = now, self.steps
        rate = (self.steps - steps) / max(now - then, 1e-9)
        return "penstock: %d s, %d steps, %.1f steps/s, %s, at %s" % (
            now - self._started, self.steps, rate, _memory(), self._place())

    def _place(self):
        """The innermost line of the program that its main thread is in."""
        frame = sys._current_frames().get(self._main)
        while frame is not None and frame.f_code.co_filename.startswith((_HERE, "<")):
            frame = frame.f_back
        return "the end" if frame is None else "%s:%d" % (os.path.relpath(frame.f_code.co_filename), frame.f_lineno)

    def show(self, *_):
        """Prints the line."""
        print(self.line(), file=sys.stderr, flush=True)

    def keep_showing(self, seconds):
        """Prints it again and again."""
        while True:
            time.sleep(seconds)
            self.show()


def _memory():
    try:
        with open("/proc/self/statm") as f:
            return "%.0f MiB" % (int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20)
    except OSError:
        return "memory unknown"


def start():
    """Begins to count and print, every PENSTOCK_PROGRESS seconds (1 means ten) and on SIGUSR1."""
    from penstock._src.session import session
    from penstock._src.tf_function import def_function
    progress = _Progress()
    session.BaseSession.run = progress.count(session.BaseSession.run)  # type: ignore[method-assign]
    def_function.Function.__call__ = progress.count(def_function.Function.__call__)  # type: ignore[method-assign]
    seconds = float(os.environ.get("PENSTOCK_PROGRESS", "1"))
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGUSR1, progress.show)
    threading.Thread(target=progress.keep_showing, args=(_SECONDS if seconds == 1 else seconds,), daemon=True,
                     name="penstock-progress").start()
