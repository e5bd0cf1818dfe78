"""tf: protocol messages."""
FROM = {
    "penstock.proto": """
        AttrValue ConfigProto Event GPUOptions GraphDef GraphOptions HistogramProto LogMessage MetaGraphDef
        NameAttrList NodeDef OptimizerOptions RunMetadata RunOptions SessionLog Summary SummaryMetadata
        TensorInfo""",
}
