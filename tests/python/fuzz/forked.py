"""Random calls in processes forked for them: a crash, a hang or a huge allocation is found and named with its seed."""

import os
import resource
import select
import signal
import time

_DONE = 7  # a child's exit status, unlike that of a call that ends the process
_ROUND = 20  # calls in one process
_SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")
_PATIENCE = 100 if _SANITIZED else 20  # seconds until a call counts as hung
_MEMORY = 0 if _SANITIZED else 4 << 30  # bytes of address space; a sanitizer needs more than there is


def confused(error):
    """A line about a TypeError that is the binding's and not meant for users; None for others."""
    return f"{error}" if "incompatible function arguments" in str(error) else None


def damage(chance, path):
    """Cuts, lengthens or changes a file at random."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    how = chance.randrange(4)
    if how == 0:
        data = data[: chance.randrange(len(data) + 1)]
    elif how == 1:
        at = chance.randrange(len(data) + 1)
        data[at:at] = bytes(chance.randrange(256) for _ in range(chance.choice((1, 8, 100))))
    else:
        for _ in range(chance.choice((1, 1, 4))):
            at = chance.randrange(max(len(data), 1))
            data[at : at + 1] = bytes([chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))])
    with open(path, "wb") as file:
        file.write(data)


def _child(call, name, seed, count, pipe):
    """Makes calls in this process, telling of each before it is made."""
    with open(os.devnull, "w") as quiet:
        os.dup2(quiet.fileno(), 1)
    if _MEMORY:
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for i in range(count):
        os.write(pipe, f"{seed + i}\n".encode())
        line = call(name, seed + i)
        if line:
            os.write(pipe, f"! {line}".replace("\n", " ")[:500].encode() + b"\n")


def fuzz(call, name, seed, count):
    """Lines about what went wrong in call(name, seed), call(name, seed + 1), ...: crashes, hangs, what they return."""
    found = []
    while count > 0:
        into, pipe = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(into)
            status = 1
            try:
                _child(call, name, seed, count, pipe)
                status = _DONE
            finally:
                os._exit(status)
        os.close(pipe)
        text, hung = b"", False
        while True:
            if not select.select([into], [], [], _PATIENCE)[0]:
                hung = True
                os.kill(pid, signal.SIGKILL)
                break
            read = os.read(into, 4096)
            if not read:
                break
            text += read
        os.close(into)
        status = os.waitpid(pid, 0)[1]
        at = seed
        for line in text.decode(errors="replace").splitlines():
            if line.startswith("!"):
                found.append(f"{name} {at}: {line[2:]}")
            else:
                at = int(line)
        if not hung and os.WIFEXITED(status) and os.WEXITSTATUS(status) == _DONE:
            break
        found.append(f"{name} {at}: {'no answer' if hung else 'ended with status ' + str(status)}")
        if len(found) > 5:
            break
        count -= at + 1 - seed
        seed = at + 1
    return found


def main(call, seed, seconds, names):
    """One call for each name, then rounds of them until the time is up. Prints what went wrong; the exit status."""
    end, status = time.time() + seconds, 0
    count = 1
    while count == 1 or time.time() < end:
        for name in names:
            if count == 1 or time.time() < end:
                for line in fuzz(call, name, seed, count):
                    print(line, flush=True)
                    status = 3
        seed, count = seed + _ROUND, _ROUND
    return status
