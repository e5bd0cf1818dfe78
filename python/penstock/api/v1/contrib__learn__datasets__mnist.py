"""tf.contrib.learn.datasets.mnist."""
FROM = {
    "contrib.learn.mnist": "DataSet dense_to_one_hot extract_images extract_labels load_mnist read_data_sets",
}
