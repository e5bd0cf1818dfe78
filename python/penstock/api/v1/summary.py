"""tf.summary."""
FROM = {
    "summaries.summary": """
        audio get_summary_description histogram image merge merge_all scalar tensor_summary text""",
    "summaries.summary_iterator": "summary_iterator",
    "summaries.writer.writer": "FileWriter",
    "summaries.writer.writer_cache": "FileWriterCache",
    "ops.summary_ops_v2": "all_v2_summary_ops initialize",
    "summaries.plugin_asset": "PluginAsset get_all_plugin_assets get_plugin_asset",
    "proto": "Event SessionLog Summary SummaryDescription TaggedRunMetadata",
}
