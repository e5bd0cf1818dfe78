"""Model: what programs derive their models from."""
from penstock._src.keras.engine import network


class Model(network.Network):
    """A layer to be subclassed: `__init__` makes layers and variables and sets them as attributes, `call` uses them."""
