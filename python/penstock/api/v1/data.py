"""tf.data"""
WITHOUT = "IteratorSpec"
FROM = {
    "data.ops.dataset_ops": """
        Dataset=DatasetV1 get_output_classes=get_legacy_output_classes
        get_output_shapes=get_legacy_output_shapes get_output_types=get_legacy_output_types
        make_initializable_iterator make_one_shot_iterator""",
    "data.ops.iterator_ops": "Iterator",
    "data.ops.readers": """
        FixedLengthRecordDataset=FixedLengthRecordDatasetV1 TFRecordDataset=TFRecordDatasetV1
        TextLineDataset=TextLineDatasetV1""",
}
