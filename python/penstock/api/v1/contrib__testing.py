"""tf.contrib.testing: what a training run has written."""
FROM = {
    "contrib.testing": """
        FakeSummaryWriter assert_summary latest_event_file latest_events latest_summaries simple_values_from_events
        to_summary_proto""",
}
