"""A lock that the members of one group hold together."""
import contextlib
import threading


class GroupLock:
    """Held by any number of threads of one group, and by no thread of another meanwhile."""

    def __init__(self, num_groups=2):
        if num_groups < 1:
            raise ValueError(f"num_groups must be a positive integer, got {num_groups}")
        self._ready = threading.Condition()
        self._group_member_counts = [0] * num_groups

    def _check(self, group_id):
        if not 0 <= group_id < len(self._group_member_counts):
            raise ValueError(f"group_id={group_id} should be between 0 and num_groups={len(self._group_member_counts)}")

    def group(self, group_id):
        """Context manager that holds the lock for a group."""
        self._check(group_id)
        return self._held(group_id)

    @contextlib.contextmanager
    def _held(self, group_id):
        self.acquire(group_id)
        try:
            yield
        finally:
            self.release(group_id)

    def acquire(self, group_id):
        """Waits until no other group holds it, and holds it for this one."""
        self._check(group_id)
        with self._ready:
            self._ready.wait_for(lambda: not any(n for g, n in enumerate(self._group_member_counts) if g != group_id))
            self._group_member_counts[group_id] += 1

    def release(self, group_id):
        """Ends one hold of a group."""
        self._check(group_id)
        with self._ready:
            self._group_member_counts[group_id] -= 1
            if self._group_member_counts[group_id] == 0:
                self._ready.notify_all()
