"""Optimizers by name."""
from penstock._src.training import adagrad
from penstock._src.training import adam
from penstock._src.training import ftrl
from penstock._src.training import gradient_descent
from penstock._src.training import optimizer as optimizer_lib
from penstock._src.training import rmsprop

_OPTIMIZERS = {
    "Adagrad": adagrad.AdagradOptimizer,
    "Adam": adam.AdamOptimizer,
    "Ftrl": ftrl.FtrlOptimizer,
    "RMSProp": rmsprop.RMSPropOptimizer,
    "SGD": gradient_descent.GradientDescentOptimizer,
}


def get_optimizer_instance(opt, learning_rate=None):
    """An optimizer: as it is, made by a function, or by its name with the learning rate."""
    if isinstance(opt, str):
        if opt not in _OPTIMIZERS:
            raise ValueError("Unsupported optimizer name: {}. Supported names are: {}".format(
                opt, tuple(sorted(_OPTIMIZERS))))
        if not learning_rate:
            raise ValueError("learning_rate must be specified when opt is string.")
        return _OPTIMIZERS[opt](learning_rate=learning_rate)
    if callable(opt):
        opt = opt()
    if not isinstance(opt, optimizer_lib.Optimizer):
        raise ValueError("The given object is not an Optimizer instance. Given: {}".format(opt))
    return opt
