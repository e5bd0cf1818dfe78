"""tf.summary, version 2."""
FROM = {
    "summary.summary_ops_v2": """
        SummaryWriter create_file_writer=create_file_writer_v2 create_noop_writer flush record_if
        should_record_summaries=should_record_summaries_v2 trace_export trace_off trace_on write""",
    "summary.summary_v2": "audio graph histogram image scalar text",
}
