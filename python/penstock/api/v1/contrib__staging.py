"""tf.contrib.staging"""
FROM = {"ops.queues.staging_area": "MapStagingArea StagingArea"}
