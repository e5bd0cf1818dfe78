"""tf.data"""
FROM = {
    "data.ops.dataset_ops": """
        AUTOTUNE Dataset=DatasetV2 DatasetSpec INFINITE_CARDINALITY=INFINITE UNKNOWN_CARDINALITY=UNKNOWN""",
    "data.ops.iterator_ops": "Iterator=IteratorBase IteratorSpec NumpyIterator",
    "data.ops.options": "Options ThreadingOptions",
    "data.ops.readers": """
        FixedLengthRecordDataset=FixedLengthRecordDatasetV2 TFRecordDataset=TFRecordDatasetV2
        TextLineDataset=TextLineDatasetV2""",
}
