"""tf.examples.tutorials.mnist.input_data."""
FROM = {
    "contrib.learn.mnist": "DataSet dense_to_one_hot extract_images extract_labels read_data_sets",
}
