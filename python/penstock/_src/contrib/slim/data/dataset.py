"""What a dataset consists of."""


class Dataset:
    """Files, the class of their reader, the decoder of their records, their number and the meaning of their items.

    What else is given by keyword becomes an attribute too.
    """

    def __init__(self, data_sources, reader, decoder, num_samples, items_to_descriptions, **kwargs):
        self.__dict__.update(kwargs, data_sources=data_sources, reader=reader, decoder=decoder,
                             num_samples=num_samples, items_to_descriptions=items_to_descriptions)
