"""The items of a Dataset, read by several readers into one queue."""
from penstock._src.contrib.slim.data import data_provider
from penstock._src.contrib.slim.data import parallel_reader


class DatasetDataProvider(data_provider.DataProvider):
    """Provides the decoded items of one record at a time, and its key under `record_key`.

    ValueError if the dataset has an item of that name.
    """

    def __init__(self, dataset, num_readers=1, reader_kwargs=None, shuffle=True, num_epochs=None,
                 common_queue_capacity=256, common_queue_min=128, record_key="record_key", seed=None, scope=None):
        key, record = parallel_reader.parallel_read(
            dataset.data_sources, reader_class=dataset.reader, num_epochs=num_epochs, num_readers=num_readers,
            reader_kwargs=reader_kwargs, shuffle=shuffle, capacity=common_queue_capacity,
            min_after_dequeue=common_queue_min, seed=seed, scope=scope)
        items = dataset.decoder.list_items()
        tensors = dict(zip(items, dataset.decoder.decode(record, items)))
        if record_key in tensors:
            raise ValueError("The item name used for `record_key` cannot also be used for a dataset item: %s" %
                             record_key)
        tensors[record_key] = key
        super().__init__(items_to_tensors=tensors, num_samples=dataset.num_samples)
