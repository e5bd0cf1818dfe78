"""A training loop for a Supervisor."""
from penstock._src.graph import errors


def basic_train_loop(supervisor, train_step_fn, args=None, kwargs=None, master=""):
    """Calls `train_step_fn(session, *args, **kwargs)` until the supervisor stops; begins anew after an AbortedError."""
    while True:
        try:
            with supervisor.managed_session(master) as sess:
                while not supervisor.should_stop():
                    train_step_fn(sess, *(args or []), **(kwargs or {}))
            return
        except errors.AbortedError:
            # A machine went away: make a new session.
            pass
