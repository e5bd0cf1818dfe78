"""Runs recorded programs, each PARTS-th from PART on, and prints what they show else than TensorFlow.

    python compare.py PART PARTS FOLDER        (the programs are written into FOLDER)
"""
import gzip
import json
import logging
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "..", "python")]  # a path that is not in its plain form works too


def same(expected, made):
    """Whether a value is the recorded one; an exception may be of a class that derives from the recorded one."""
    if isinstance(expected, dict):
        return isinstance(made, dict) and expected["raised"][0] in made["raised"]
    if isinstance(expected, list):
        return isinstance(made, list) and len(expected) == len(made) and all(map(same, expected, made))
    if isinstance(expected, float):
        return isinstance(made, (int, float)) and math.isclose(expected, made, rel_tol=5e-4, abs_tol=5e-5)
    return type(expected) is type(made) and expected == made


def main(part, parts, folder):
    import penstock as tf
    from execute import execute
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    with gzip.open(os.path.join(HERE, "results.json.gz")) as f:
        records = json.load(f)
    wrong = 0
    for record in records[int(part)::int(parts)]:
        made = execute(tf, record["source"], os.path.join(folder, record["name"] + ".py"))
        made, expected = json.loads(json.dumps(made)), record["shown"]
        for i in range(max(len(expected), len(made))):
            if not same(expected[i:i + 1], made[i:i + 1]):
                wrong += 1
                print(record["name"], "expected", expected[i:i + 1], "but there is", made[i:i + 1])
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main(*sys.argv[1:])
