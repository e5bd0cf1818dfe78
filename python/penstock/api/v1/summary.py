"""tf.summary."""
WITHOUT = """
    SummaryWriter create_file_writer create_noop_writer flush graph record_if should_record_summaries
    trace_export trace_off trace_on write"""
FROM = {
    "summary.summary": "audio get_summary_description histogram image merge merge_all scalar tensor_summary text",
    "summary.summary_iterator": "summary_iterator",
    "summary.writer": "FileWriter",
    "summary.writer_cache": "FileWriterCache",
    "summary.summary_ops_v2": "all_v2_summary_ops initialize",
    "summary.plugin_asset": "PluginAsset get_all_plugin_assets get_plugin_asset",
    "penstock.proto": "Event SessionLog Summary SummaryDescription TaggedRunMetadata",
}
