"""tf.python_io"""
FROM = {"files.tf_record": "TFRecordCompressionType TFRecordOptions TFRecordWriter tf_record_iterator"}
