"""build_progress.py NINJA-ARGUMENTS: runs ninja and shows on one line the current file, the progress and how
long it will take. Where the output is no terminal, prints one line a minute. Errors and warnings stay as they are."""
import os
import re
import shutil
import subprocess
import sys
import time

STEP = re.compile(r"^@(\d+) (\d+) (.*)$")


def what(description):
    """Building CXX object CMakeFiles/penstock_base.dir/src/penstock/base/status.cc.o -> penstock/base/status.cc"""
    name = re.sub(r".*\.dir/(?:src/)?|^.* (?:object|library|executable|module) ", "", description)
    return re.sub(r"\.o$|\.gch$", "", re.sub(r"^.*/\.cache/penstock/", "", name)).lstrip("/")


def duration(seconds):
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


class Progress:
    """When steps ended. Remaining steps are expected to take the mean of the pace so far and the recent pace."""

    def __init__(self, now):
        self.begin = now
        self.times = []

    def line(self, now, done, total, description):
        self.times.append(now)
        text = f"Building, {done} of {total} steps ({100 * done // total} %)"
        if done >= 10 and now - self.begin >= 5 and done < total:
            recent = self.times[-min(len(self.times), max(20, done // 4)):]
            pace = (now - self.begin) / done
            if len(recent) > 1:
                pace = (pace + (now - recent[0]) / (len(recent) - 1)) / 2
            text += f", about {duration(pace * (total - done))} left"
        return f"{text}: {what(description)}"


def main(arguments):
    environment = dict(os.environ, NINJA_STATUS="@%f %t ")
    ninja = subprocess.Popen(["ninja", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace", env=environment)
    terminal = sys.stdout.isatty()
    begin = time.monotonic()
    progress, shown, said = Progress(begin), "", begin

    def clear():
        if shown:
            sys.stdout.write("\r" + " " * len(shown) + "\r")

    try:
        for line in ninja.stdout:
            now = time.monotonic()
            step = STEP.match(line)
            if step:
                text = progress.line(now, int(step[1]), int(step[2]), step[3])
                if terminal:
                    clear()
                    shown = text[:shutil.get_terminal_size().columns - 1]
                    sys.stdout.write(shown)
                    sys.stdout.flush()
                elif now - said >= 60:
                    print(text, flush=True)
                    said = now
            elif not line.startswith(("ninja: Entering", "ninja: no work")):
                clear()
                shown = ""
                sys.stdout.write(line)
                sys.stdout.flush()
        status = ninja.wait()
    except KeyboardInterrupt:  # ninja was interrupted as well
        status = ninja.wait() or 130
    clear()
    if status == 0 and progress.times:
        print(f"Built {len(progress.times)} steps in {duration(time.monotonic() - begin)}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
