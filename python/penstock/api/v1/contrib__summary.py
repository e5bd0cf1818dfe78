"""tf.contrib.summary."""
FROM = {
    "summary.summary_ops_v2": """
        all_summary_ops=all_v2_summary_ops always_record_summaries audio create_file_writer create_summary_file_writer
        eval_dir flush generic graph=graph_v1 histogram image import_event initialize never_record_summaries
        record_summaries_every_n_global_steps scalar should_record_summaries=should_record_summaries_v1
        summary_writer_initializer_op""",
}
NAMES = {"summary": "penstock.v1:contrib.summary"}  # TensorFlow has them in a module of that name too
