"""In eager execution queues, tables and the like end with their handles."""
import gc
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from penstock import v1, v2

MAKERS = dict(
    fifo_queue=lambda: _filled_queue(v2.queue.FIFOQueue(2, v2.float32)),
    padding_fifo_queue=lambda: _filled_queue(v2.queue.PaddingFIFOQueue(2, v2.float32, [[None]])),
    random_shuffle_queue=lambda: _filled_queue(v2.queue.RandomShuffleQueue(2, 0, v2.float32)),
    shared_name=lambda: _filled_queue(v2.queue.FIFOQueue(2, v2.float32, shared_name="q")),
    mutable_table=lambda: _filled_table(v2.lookup.experimental.MutableHashTable(v2.int64, v2.float32, [0.0] * SIZE)),
    dense_table=lambda: _filled_table(v2.lookup.experimental.DenseHashTable(
        v2.int64, v2.float32, default_value=[0.0] * SIZE, empty_key=-1, deleted_key=-2)),
    static_table=lambda: v2.lookup.StaticHashTable(
        v2.lookup.KeyValueTensorInitializer(np.arange(SIZE // 4), np.ones(SIZE // 4, np.int64)), -1),
    raw_table=lambda: v2.raw_ops.LookupTableInsertV2(
        table_handle=v2.raw_ops.MutableHashTableOfTensorsV2(key_dtype=v2.int64, value_dtype=v2.float32,
                                                            value_shape=[SIZE]),
        keys=v2.constant([1], v2.int64), values=v2.ones([1, SIZE])),
    accumulator=lambda: v1.ConditionalAccumulator(v2.float32, [SIZE]).apply_grad(v2.ones([SIZE])),
    staging_area=lambda: v1_staging_area(),
    variable=lambda: v2.raw_ops.AssignVariableOp(resource=v2.raw_ops.VarHandleOp(dtype=v2.float32, shape=[SIZE]),
                                                 value=v2.ones([SIZE])),
)
SIZE = 1 << 20  # 4 MiB
TIMES = 50


def _filled_queue(queue):
    queue.enqueue(v2.ones([SIZE]))


def _filled_table(table):
    table.insert(v2.constant([1], v2.int64), v2.ones([1, SIZE]))


def v1_staging_area():
    """One that holds a tensor."""
    from penstock._src.ops.queues import data_flow_ops
    data_flow_ops.StagingArea([v2.float32]).put([v2.ones([SIZE])])


def resident():
    """Bytes of memory of this process."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_memory_comes_back(kind):
    script = textwrap.dedent(f"""
        import gc
        from penstock import v2  # executes eagerly
        import test_resource_lifetimes as t
        def make(times):
            for _ in range(times):
                t.MAKERS[{kind!r}]()
                gc.collect()
        make(3)
        before = t.resident()
        make(t.TIMES)
        grown = t.resident() - before
        assert grown < 10 * 4 * t.SIZE, grown
    """)
    path = os.pathsep.join([os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", script], env=dict(os.environ, PYTHONPATH=path), capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]


def test_queues_share_no_name(version_two):
    one, two = [v2.queue.FIFOQueue(10, v2.int32, shared_name="q") for _ in range(2)]
    one.enqueue(1)
    assert [int(one.size()), int(two.size())] == [1, 0]


def test_tables_of_one_file_are_one_while_a_handle_lives(version_two, tmp_path):
    path = tmp_path / "words"
    keys = v2.constant(["a", "c"])

    def table():
        index = v2.lookup.TextFileIndex
        return v2.lookup.StaticHashTable(v2.lookup.TextFileInitializer(
            str(path), v2.string, index.WHOLE_LINE, v2.int64, index.LINE_NUMBER), -1)
    path.write_text("a\nb\n")
    first = table()
    path.write_text("c\nd\n")
    second = table()
    assert second.lookup(keys).numpy().tolist() == [0, -1]
    del first
    gc.collect()
    assert table().lookup(keys).numpy().tolist() == [0, -1]
    del second
    gc.collect()
    assert table().lookup(keys).numpy().tolist() == [-1, 0]


def test_resources_without_names_are_not_shared(version_two):
    raw = v2.raw_ops
    one, two = [raw.MutableHashTableV2(key_dtype=v2.int64, value_dtype=v2.int64) for _ in range(2)]
    number = v2.constant([1], v2.int64)
    raw.LookupTableInsertV2(table_handle=one, keys=number, values=number)
    assert [int(raw.LookupTableSizeV2(table_handle=t)) for t in (one, two)] == [1, 0]


def test_named_resources_are_shared(version_two):
    raw = v2.raw_ops
    one, two = [raw.MutableHashTableV2(key_dtype=v2.int64, value_dtype=v2.int64, shared_name="named") for _ in range(2)]
    number = v2.constant([1], v2.int64)
    raw.LookupTableInsertV2(table_handle=one, keys=number, values=number)
    assert [int(raw.LookupTableSizeV2(table_handle=t)) for t in (one, two)] == [1, 1]
