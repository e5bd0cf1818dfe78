"""tf: protocol messages."""
FROM = {
    "api.messages": """
        AttrValue ConfigProto Event GPUOptions GraphDef GraphOptions HistogramProto MetaGraphDef NameAttrList NodeDef
        OptimizerOptions RunMetadata RunOptions SessionLog Summary SummaryMetadata TensorInfo""",
}
NAMES = {"LogMessage": "api.messages:LogMessage"}
