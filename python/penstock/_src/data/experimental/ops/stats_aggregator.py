"""Where pipelines count what they do."""
import tempfile

from penstock._src.graph import gen


class StatsAggregatorV2:
    """Counts, and writes summaries."""

    def __init__(self):
        from penstock._src.summary import summary_ops_v2
        self._resource = gen.stats_aggregator_handle_v2()
        self._logdir = tempfile.mkdtemp()
        self._summary_writer = summary_ops_v2.create_file_writer_v2(self._logdir, max_queue=10)
        gen.stats_aggregator_set_summary_writer(self._resource, self._summary_writer._resource)


class StatsAggregatorV1:
    """Counts; `get_summary()` tells."""

    def __init__(self):
        self._resource = gen.stats_aggregator_handle()

    def get_summary(self):
        """What was counted, as a serialized Summary."""
        return gen.stats_aggregator_summary(self._resource)
