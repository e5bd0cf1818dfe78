"""Pipelines whose functions run as Python. The mode lasts as long as the process, so it is tried in another one."""
import subprocess
import sys

PROGRAM = """
import penstock as tf
Dataset = tf.data.Dataset
tf.data.experimental.enable_debug_mode()
seen = []
def see(x):
    seen.append(type(x).__name__)
    return {"x": x + 1, "y": [x]}
print([(int(e["x"]), e["y"].numpy().tolist()) for e in Dataset.range(2).map(see, num_parallel_calls=4)])
print(seen)
print([int(x) for x in Dataset.range(5).filter(lambda x: x % 2 == 0).batch(2, num_parallel_calls=2).unbatch()])
print(int(Dataset.range(5).reduce(tf.constant(0, tf.int64), lambda a, b: a + b)))
sums = Dataset.range(3).interleave(lambda x: Dataset.range(x).map(lambda y: y + x), num_parallel_calls=2)
print([int(x) for x in sums])
same = Dataset.from_tensors(tf.sparse.from_dense([0, 2])).map(lambda x: x)
print([tf.sparse.to_dense(x).numpy().tolist() for x in same])
try:
    list(Dataset.range(1).map(lambda x: 1 // int(x) if type(x).__name__ == "EagerTensor" else x))
except tf.errors.UnknownError as e:
    print("ZeroDivisionError" in str(e))
"""


def test_functions_see_elements():
    found = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=100)
    assert found.stdout.splitlines()[0] == "[(1, [0]), (2, [1])]", found.stderr
    assert found.stdout.splitlines()[1].endswith("'EagerTensor', 'EagerTensor']")
    assert found.stdout.splitlines()[2:] == ["[0, 2, 4]", "10", "[1, 2, 3]", "[[0, 2]]", "True"], found.stderr
