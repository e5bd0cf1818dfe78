"""slowest_files.py NINJA_LOG: the build steps that took longest, and the sum of all."""
import sys


def main(path):
    steps = {}
    with open(path) as log:
        for line in log:
            if not line.startswith("#"):
                start, end, _, output, _ = line.rstrip("\n").split("\t")
                steps[output] = (int(end) - int(start)) / 1000
    for output, seconds in sorted(steps.items(), key=lambda step: -step[1])[:25]:
        print(f"{seconds:7.1f} s  {output}")
    print(f"{sum(steps.values()):7.1f} s  in {len(steps)} steps")


if __name__ == "__main__":
    main(sys.argv[1])
