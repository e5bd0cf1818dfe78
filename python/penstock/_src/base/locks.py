"""Locks of module-wide state."""
import os
import threading


def lock():
    """Returns a reentrant lock that is free in a forked child, even if a thread of the parent holds it.

    For caches and registries of a module: another thread may be inside while the process is forked, and in the child it
    would never leave.
    """
    made = threading.RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=made._at_fork_reinit)
    return made
