"""Counters, gauges and histograms."""
import pytest

import penstock.v1 as tf
from penstock._src.graph import monitoring


def test_cells_belong_to_labels():
    counter = monitoring.Counter("test/counter", "counts", "label")
    for label, step in (("a", 1), ("b", 2), ("a", 5)):
        counter.get_cell(label).increase_by(step)
    assert counter.get_cell("a").value() == 6 and counter.get_cell("b").value() == 2
    with pytest.raises(ValueError, match="1 labels"):
        counter.get_cell()


@pytest.mark.parametrize("kind, start, value", [
    (monitoring.IntGauge, 0, 3), (monitoring.StringGauge, "", "left"), (monitoring.BoolGauge, False, True)])
def test_gauges(kind, start, value):
    gauge = kind("test/gauge", "a value")
    assert gauge.get_cell().value() == start
    gauge.get_cell().set(value)
    assert gauge.get_cell().value() == value


def test_a_name_is_taken_as_long_as_its_metric_lives():
    first = monitoring.Counter("test/same", "counts")
    with pytest.raises(tf.errors.AlreadyExistsError, match="same name"):
        monitoring.IntGauge("test/same", "a value")
    del first
    monitoring.IntGauge("test/same", "a value")


def test_samplers_are_histograms():
    sampler = monitoring.Sampler("test/sampler", monitoring.ExponentialBuckets(1.0, 2.0, 2), "numbers")
    for number in (0.5, 1.0, 5.0):
        sampler.get_cell().add(number)
    histogram = sampler.get_cell().value()
    assert (histogram.min, histogram.max, histogram.num) == (0.5, 5, 3)
    assert (histogram.sum, histogram.sum_squares) == (6.5, 26.25)
    assert list(histogram.bucket) == [1, 1, 1] and list(histogram.bucket_limit)[:2] == [1, 2]
