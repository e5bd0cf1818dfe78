"""What pipelines count."""
import glob

import pytest

import penstock.v1 as tf
from penstock._src.data.experimental.ops import stats_aggregator
from penstock._src.graph import context

Dataset = tf.data.Dataset
experimental = tf.data.experimental


def with_stats(dataset, aggregator, prefix=""):
    options = tf.data.Options()
    options.experimental_stats.aggregator = aggregator
    options.experimental_stats.prefix = prefix
    return dataset.with_options(options)


def pipeline():
    dataset = Dataset.range(100).map(lambda x: tf.tile([x], [x])).apply(experimental.bytes_produced_stats("bytes"))
    return dataset.apply(experimental.latency_stats("latency"))


def counted(summary):
    return {value.tag: value for value in tf.Summary.FromString(summary).value}


def test_bytes_and_latency():
    with context.eager_mode():
        aggregator = experimental.StatsAggregator()
        assert len(list(with_stats(pipeline(), aggregator, "mine"))) == 100
        found = counted(aggregator.get_summary().numpy())
    assert found["mine::bytes"].histo.num == 100
    assert found["mine::bytes"].histo.sum == 8 * sum(range(100))
    assert found["mine::latency"].histo.num == 100 and found["mine::latency"].histo.min >= 0


def test_in_a_graph():
    with tf.Graph().as_default(), tf.Session() as session:
        aggregator = experimental.StatsAggregator()
        iterator = tf.data.make_initializable_iterator(with_stats(pipeline(), aggregator))
        summary = aggregator.get_summary()
        session.run(iterator.initializer)
        for i in range(3):
            session.run(iterator.get_next())
            assert counted(session.run(summary))["bytes"].histo.num == i + 1


def test_stages_count_by_themselves():
    with context.eager_mode():
        aggregator = experimental.StatsAggregator()
        dataset = Dataset.range(9).filter(lambda x: x % 3 < 1).map(lambda x: x + 1, num_parallel_calls=2).prefetch(2)
        assert len(list(with_stats(dataset, aggregator))) == 3
        found = {tag.split("::")[0].split("/")[0] + "::" + tag.split("::")[1]: value
                 for tag, value in counted(aggregator.get_summary().numpy()).items()}
    assert found["FilterDataset::filtered_elements"].simple_value == 3
    assert found["FilterDataset::dropped_elements"].simple_value == 6
    assert found["PrefetchDataset::buffer_capacity"].simple_value == 2
    assert 0 <= found["PrefetchDataset::buffer_utilization"].histo.max <= 1
    assert found["ParallelMapDataset::execution_time"].histo.num == 3
    assert "ParallelMapDataset::thread_utilization" in found


def test_without_an_aggregator_nothing_is_counted():
    with context.eager_mode():
        assert len(list(pipeline())) == 100


def test_an_aggregator_of_version_2_writes_events():
    with context.eager_mode():
        aggregator = stats_aggregator.StatsAggregatorV2()
        assert len(list(with_stats(Dataset.range(5).apply(experimental.latency_stats("latency")), aggregator))) == 5
        aggregator._summary_writer.flush()
    file, = glob.glob(aggregator._logdir + "/*")
    events = list(tf.train.summary_iterator(file))
    assert [value.histo.num for event in events for value in event.summary.value] == pytest.approx([1, 2, 3, 4, 5])
