"""One dataset whose elements go to several devices in turn. Values are those of TensorFlow 1.15.5 and 2.21."""
import subprocess
import sys

import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.data.ops.multi_device_iterator_ops import MultiDeviceIterator

Dataset = tf.data.Dataset


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(device_count={"CPU": 3})) as session:
        yield session


@pytest.mark.parametrize("devices", [["/cpu:1", "/cpu:2"], ["/cpu:0", "/cpu:1"], ["/cpu:1", "/cpu:1"]])
def test_devices_take_elements_in_turn(session, devices):
    iterator = MultiDeviceIterator(Dataset.range(7), devices)
    both = iterator.get_next()
    for _ in range(2):
        session.run(iterator.initializer)
        assert [session.run(both) for _ in range(3)] == [[0, 1], [2, 3], [4, 5]]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(both)


def test_a_device_asks_alone(session):
    iterator = MultiDeviceIterator(Dataset.range(6), ["/cpu:1", "/cpu:2"], prefetch_buffer_size=0)
    first, second = iterator.get_next("/cpu:1"), iterator.get_next("/cpu:2")
    session.run(iterator.initializer)
    assert [session.run(t) for t in (second, second, first, first, second)] == [1, 3, 0, 2, 5]


EAGER = """
import penstock as tf
from penstock._src.data.ops import multi_device_iterator_ops as m
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
pairs = tf.data.Dataset.zip((tf.data.Dataset.range(4), tf.data.Dataset.range(4)))
for kind in (m.OwnedMultiDeviceIterator, m.MultiDeviceIterator):
    for dataset in (tf.data.Dataset.range(5), pairs):
        iterator = kind(dataset, ["/cpu:1", "/cpu:2"])
        print([tf.nest.map_structure(lambda t: (int(t), t.device[-5:]), iterator.get_next()) for _ in range(2)])
        print([bool(o.has_value()) for o in iterator.get_next_as_optional()])
"""


def test_eagerly():
    """In a process of its own, since devices can be set once only."""
    numbers = "[[(0, 'CPU:1'), (1, 'CPU:2')], [(2, 'CPU:1'), (3, 'CPU:2')]]\n[True, False]\n"
    pairs = ("[[((0, 'CPU:1'), (0, 'CPU:1')), ((1, 'CPU:2'), (1, 'CPU:2'))], "
             "[((2, 'CPU:1'), (2, 'CPU:1')), ((3, 'CPU:2'), (3, 'CPU:2'))]]\n[False, False]\n")
    found = subprocess.run([sys.executable, "-c", EAGER], capture_output=True, text=True, timeout=100)
    assert found.stdout == 2 * (numbers + pairs), found.stderr


@pytest.mark.parametrize("devices", [("/cpu:0", "/cpu:1"), ("/cpu:1", "/cpu:0"), (None, "/cpu:1"),
                                     ("/cpu:2", "/cpu:1")])
@pytest.mark.parametrize("calls", [None, 2])
def test_functions_use_variables_of_several_devices(session, devices, calls):
    variables = []
    for name, device, value in zip("vw", devices, (10, 100)):
        with tf.device(device):
            variables.append(tf.get_variable(name, initializer=np.int64(value), use_resource=True))
    mapped = Dataset.range(3).map(lambda x: x + variables[0].read_value() + variables[1].read_value(),
                                  num_parallel_calls=calls)
    nested = Dataset.range(2).flat_map(lambda x: Dataset.range(2).map(
        lambda y: variables[1].assign_add(x) + variables[0] + y))
    called = tf.function(lambda x: x * variables[0] * variables[1])(tf.constant(2, tf.int64))
    iterators = [tf.data.make_initializable_iterator(d) for d in (mapped, nested)]
    elements = [iterator.get_next() for iterator in iterators]
    session.run(tf.global_variables_initializer())
    assert session.run(called) == 2000
    session.run([iterator.initializer for iterator in iterators])
    assert [session.run(elements[0]) for _ in range(3)] == [110, 111, 112]
    assert [session.run(elements[1]) for _ in range(4)] == [110, 111, 111, 113]
    assert session.run(variables) == [10, 102]
