"""What hands out items by their names."""


class DataProvider:
    """The items of a dataset, each a tensor, and the number of its samples."""

    def __init__(self, items_to_tensors, num_samples):
        self._items_to_tensors = items_to_tensors
        self._num_samples = num_samples

    def get(self, items):
        """The tensors of those items. ValueError for a name that there is not."""
        if not isinstance(items, (list, tuple)):
            raise ValueError("items must be a list or tuple")
        for item in items:
            if item not in self._items_to_tensors:
                raise ValueError("Item [%s] is invalid. Valid entries include: %s" % (item, self.list_items()))
        return [self._items_to_tensors[item] for item in items]

    def list_items(self):
        """The names of the items."""
        return self._items_to_tensors.keys()

    def num_samples(self):
        """The number of samples, or None if it is unknown."""
        return self._num_samples
