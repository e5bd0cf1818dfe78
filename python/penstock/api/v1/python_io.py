"""tf.python_io"""
FROM = {"lib.io.tf_record": "TFRecordCompressionType TFRecordOptions TFRecordWriter tf_record_iterator"}
