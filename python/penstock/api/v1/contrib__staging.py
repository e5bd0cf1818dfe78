"""tf.contrib.staging"""
FROM = {"ops.staging_area": "MapStagingArea StagingArea"}
