"""A model of how steps are woken and cancelled, explored in every interleaving for small sizes.

Each move below is one critical section of `runtime/step_executor.cc`, `kernel/services.cc` or
`kernels/cpu/data_flow/wait_list.cc`; a change there is to be made here too. The tests at the end remove one rule each
and expect the search to find the failure, so the model is known to see such faults."""

from dataclasses import dataclass, replace

import pytest


def explore(start, moves, is_end):
    """Visits all states reachable from `start`; AssertionError in a state without moves that is no end."""
    seen, stack = {start}, [start]
    while stack:
        state = stack.pop()
        successors = list(moves(state))
        if not successors:
            assert is_end(state), f"stuck in {state}"
        for successor in successors:
            if successor not in seen:
                seen.add(successor)
                stack.append(successor)
    return len(seen)


@dataclass(frozen=True)
class Run:
    """A step of `left` tasks, which others post from outside, or tasks post themselves."""

    outside: int          # tasks that threads of other steps have still to post
    inside: int           # tasks that running tasks have still to post
    left: int             # tasks that have not ended
    queued: int = 0       # StepExecutor::tasks_
    called: int = 0       # StepExecutor::workers_
    owed: int = 0         # threads between Summon and CallWorker
    pooled: int = 0       # calls that the pool has taken and not begun
    draining: int = 0     # workers that look for a task
    running: int = 0      # workers inside of a task
    home: str = "drains"  # drains, runs, waits, left
    home_waits: bool = False
    over: bool = False


def summon(s, most, forget_home=False):
    waiting = s.queued - s.called
    if waiting > 0 and s.home_waits:
        if not forget_home:
            s = replace(s, home_waits=False)
        waiting -= 1
    if waiting <= 0 or s.called >= most:
        return s
    return replace(s, called=s.called + 1, owed=s.owed + 1)


def end_task(s):
    s = replace(s, left=s.left - 1)
    return replace(s, over=True, home_waits=False) if s.left == 0 else s


def run_moves(s, threads=1, most=1, pool_fails=False, has_home=True, forget_home=False, sleep_unlocked=False):
    if s.outside:  # Post from outside
        yield summon(replace(s, outside=s.outside - 1, queued=s.queued + 1), most, forget_home)
    if s.owed:  # CallWorker
        if not pool_fails:
            yield replace(s, owed=s.owed - 1, pooled=s.pooled + 1)
        elif has_home:  # the home thread is woken for tasks that relied on this worker
            wakes = s.queued > 0 and not forget_home
            yield replace(s, owed=s.owed - 1, called=s.called - 1, home_waits=s.home_waits and not wakes)
        else:
            yield replace(s, owed=s.owed - 1, called=s.called - 1, draining=s.draining + 1)
    if s.pooled and (s.draining + s.running < threads or pool_fails):
        yield replace(s, pooled=s.pooled - 1, called=s.called - 1, draining=s.draining + 1)
    if s.draining:
        if s.queued:
            yield replace(s, draining=s.draining - 1, running=s.running + 1, queued=s.queued - 1)
        else:
            yield replace(s, draining=s.draining - 1)
    if s.running or s.home == "runs":
        if s.inside:  # Post from inside; with Offer or without
            posted = replace(s, inside=s.inside - 1, queued=s.queued + 1)
            yield posted
            yield summon(posted, most, forget_home)
    if s.running:
        yield replace(end_task(s), running=s.running - 1, draining=s.draining + 1)
    if s.home == "drains":
        if s.queued:
            yield replace(s, home="runs", queued=s.queued - 1)
        elif s.over:
            yield replace(s, home="left")
        elif sleep_unlocked:
            yield replace(s, home="falls asleep")
        else:
            yield replace(s, home="waits", home_waits=True)
    if s.home == "falls asleep":
        yield replace(s, home="waits", home_waits=True)
    if s.home == "waits" and not s.home_waits:
        yield replace(s, home="drains")
    if s.home == "runs":
        yield replace(end_task(s), home="drains")


def tasks_can_post(s):
    """Tasks inside are posted while one runs, so the last one to end must not leave any unposted."""
    return s.inside == 0 or s.left > s.inside


def valid(moves):
    return lambda s: (t for t in moves(s) if tasks_can_post(t))


def run_ended(s):
    return s.home == "left" and s.left == 0 and s.queued == 0 and s.called == 0 and s.running == 0


@pytest.mark.parametrize("threads, pool_fails", [(1, False), (2, False), (0, True)])
@pytest.mark.parametrize("outside, inside", [(1, 0), (3, 0), (4, 0), (2, 2), (1, 4), (3, 3)])
def test_every_task_runs_and_the_step_ends(outside, inside, threads, pool_fails):
    start = Run(outside, inside, outside + inside)

    def moves(s):
        return run_moves(s, threads, max(1, threads), pool_fails)
    assert explore(start, valid(moves), run_ended) > 5


@pytest.mark.parametrize("pool_fails", [False, True])
@pytest.mark.parametrize("outside, inside", [(1, 0), (3, 0), (2, 2), (3, 3)])
def test_without_a_home_thread(outside, inside, pool_fails):
    start = Run(outside, inside, outside + inside, home="none")

    def moves(s):
        return run_moves(s, 1, 1, pool_fails, has_home=False)
    assert explore(start, valid(moves), lambda s: run_ended(replace(s, home="left"))) > 5


@pytest.mark.parametrize("fault", ["forget_home", "sleep_unlocked"])
def test_the_search_finds_a_lost_wake_up(fault):
    with pytest.raises(AssertionError, match="stuck"):
        explore(Run(2, 1, 3), valid(lambda s: run_moves(s, **{fault: True})), run_ended)


@dataclass(frozen=True)
class Attempt:
    """An attempt of a WaitList that one thread finishes, one cancels and one removes with its owner's end."""

    flush: str = "begins"      # begins, found, deregisters, calls, ended
    cancel: str = "begins"     # begins, swapped, found, calls, ends, ended
    finished: bool = False     # Attempt::finished
    registered: bool = True    # CancellationManager::callbacks_
    cancelled: bool = False
    running: bool = False      # CancellationManager::is_running_
    answers: int = 0           # how often `done` was called


def attempt_moves(s, check_finished=True, wait_when_cancelled=False, locked=False):
    if s.flush == "begins":  # Flush, under the list's mutex
        if s.finished and check_finished:
            yield replace(s, flush="ended")
        else:
            yield replace(s, finished=True, flush="found")
    if s.flush == "found":
        if s.cancelled and not wait_when_cancelled:
            yield replace(s, flush="calls")
        else:
            yield replace(s, flush="deregisters")
    if s.flush == "deregisters":  # Deregister: removes the callback, or waits for those that run
        if s.registered:
            yield replace(s, registered=False, flush="calls")
        elif not s.running:
            yield replace(s, flush="calls")
    if s.flush == "calls":
        yield replace(s, answers=s.answers + 1, flush="ended")
    if s.cancel == "begins":  # Cancel, under the manager's mutex
        if s.registered:
            yield replace(s, cancelled=True, registered=False, running=True, cancel="swapped")
        else:
            yield replace(s, cancelled=True, running=True, cancel="ends")
    # Callbacks run without the manager's mutex. With `locked` they would wait for the flush to end its calls.
    if s.cancel == "swapped" and not (locked and s.flush in ("found", "deregisters", "calls")):
        if s.finished and check_finished:
            yield replace(s, cancel="ends")
        else:
            yield replace(s, finished=True, cancel="calls")
    if s.cancel == "calls":
        yield replace(s, answers=s.answers + 1, cancel="ends")
    if s.cancel == "ends":
        yield replace(s, running=False, cancel="ended")


def answered_once(s):
    return s.flush == "ended" and s.cancel == "ended" and s.answers == 1


def test_an_attempt_is_answered_once():
    assert explore(Attempt(), attempt_moves, answered_once) > 10


@pytest.mark.parametrize("fault", [{"check_finished": False}, {"locked": True, "wait_when_cancelled": True}])
def test_the_search_finds_double_answers_and_deadlocks(fault):
    with pytest.raises(AssertionError, match="stuck"):
        explore(Attempt(), lambda s: attempt_moves(s, **fault), answered_once)
