"""Runs generated programs and those of features/ under real TensorFlow; writes results.json.gz beside this file.

    python record.py        (with TensorFlow 2's Python)

Generated programs that TensorFlow's AutoGraph does not convert in full, and then refuses, are left out, as are those
with loops over datasets that it refuses, because only the loop defines a variable.
"""
import gzip
import json
import logging
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
GENERATED = 150


def features():
    """[(name, source)] of the programs in features/."""
    found = []
    for file in sorted(os.listdir(os.path.join(HERE, "features"))):
        with open(os.path.join(HERE, "features", file)) as f:
            parts = re.split(r"(?m)^#--- (\w+)\n", f.read())
        found += zip(parts[1::2], parts[2::2])
    return found


def main():
    import tensorflow as tf
    from execute import execute
    from generate import Maker
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    programs = features() + [(f"generated_{i}", Maker(i).program()) for i in range(GENERATED)]
    records = []
    with tempfile.TemporaryDirectory() as folder:
        for name, source in programs:
            shown = execute(tf, source, os.path.join(folder, name + ".py"))
            text = json.dumps(shown)
            refused = "OperatorNotAllowedInGraphError" in text or "Dataset" in source and "raised" in text
            if refused and name.startswith("generated"):
                continue
            records.append({"name": name, "source": source, "shown": shown})
    with gzip.GzipFile(os.path.join(HERE, "results.json.gz"), "wb", mtime=0) as f:
        f.write(json.dumps(records, separators=(",", ":")).encode())
    print(len(records), "programs")


if __name__ == "__main__":
    main()
