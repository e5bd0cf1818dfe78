"""Wrappers around cells of recurrent networks: dropout, residual connections, devices."""
import hashlib
import numbers

from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.graph import tensor_util
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_activation
from penstock._src.ops.random import random_ops
from penstock._src.layers.rnn.rnn_cell_impl import LSTMStateTuple, RNNCell, assert_like_rnncell
from penstock._src.base import function_config
from penstock._src.base import nest


class _Wrapper(RNNCell):
    """A cell around a cell."""

    def __init__(self, cell, **kwargs):
        super().__init__(**kwargs)
        assert_like_rnncell("cell", cell)
        self.cell = cell

    @property
    def wrapped_cell(self):
        return self.cell

    def get_config(self):
        """The arguments of the constructor, with the cell's own configuration."""
        return {**super().get_config(), "cell": {"class_name": type(self.cell).__name__,
                                                 "config": self.cell.get_config()}}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """ValueError: `cell` is a configuration, of a cell that only the program knows how to make."""
        if not isinstance(config["cell"], RNNCell):
            raise ValueError(f"{cls.__name__} cannot reconstruct the wrapped cell. Please overwrite the cell in the "
                             "config with a RNNCell instance.")
        return cls(**config)

    @property
    def state_size(self):
        return self.cell.state_size

    @property
    def output_size(self):
        return self.cell.output_size

    def zero_state(self, batch_size, dtype):
        with ops.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self.cell.zero_state(batch_size, dtype)

    def build(self, inputs_shape):
        """Builds the cell inside."""
        self.cell.build(inputs_shape)
        self.built = True

    def call(self, inputs, state, **kwargs):
        """A step with a cell that has been built."""
        return self._call_wrapped_cell(inputs, state, self.cell.call, **kwargs)

    def __call__(self, inputs, state, scope=None):
        return self._call_wrapped_cell(inputs, state, self.cell.__call__, scope=scope)

    def _call_wrapped_cell(self, inputs, state, cell_call_fn, **kwargs):
        raise NotImplementedError


def _with_function(config, keys, argument, custom_objects):
    """A configuration with the function that three of its keys describe as the constructor's argument."""
    if keys[0] not in config:
        return config
    config = dict(config)
    described = [config.pop(key, None) for key in keys]
    return {**config, argument: function_config.load(*described, custom_objects)}


def _keeps_memory(substate):
    """The default filter: the memory of an LSTM is not dropped, nor is what is in a TensorArray."""
    if isinstance(substate, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return not type(substate).__name__ == "TensorArray"


class DropoutWrapper(_Wrapper):
    """Drops inputs, outputs and state; `variational_recurrent` drops the same elements in all steps."""

    def __init__(self, cell, input_keep_prob=1.0, output_keep_prob=1.0, state_keep_prob=1.0,
                 variational_recurrent=False, input_size=None, dtype=None, seed=None,
                 dropout_state_filter_visitor=None, **kwargs):
        super().__init__(cell, dtype=dtype, **kwargs)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._dropout_state_filter = dropout_state_filter_visitor or _keeps_memory
        with ops.name_scope("DropoutWrapperInit"):
            for prob, name in ((input_keep_prob, "input_keep_prob"), (state_keep_prob, "state_keep_prob"),
                               (output_keep_prob, "output_keep_prob")):
                tensor = ops.convert_to_tensor(prob)
                known = tensor_util.constant_value(tensor)
                if known is not None and (known < 0 or known > 1):
                    raise ValueError("Parameter %s must be between 0 and 1: %d" % (name, known))
                setattr(self, "_" + name, tensor if known is None else float(known))
        self._variational_recurrent = variational_recurrent
        self._input_size = input_size
        self._seed = seed
        self._recurrent_input_noise = None
        self._recurrent_state_noise = None
        self._recurrent_output_noise = None
        if variational_recurrent:
            self._make_noise(dtype)

    def get_config(self):
        config = {**super().get_config(), "input_keep_prob": self._input_keep_prob,
                  "output_keep_prob": self._output_keep_prob, "state_keep_prob": self._state_keep_prob,
                  "variational_recurrent": self._variational_recurrent, "input_size": self._input_size,
                  "seed": self._seed}
        if self._dropout_state_filter is not _keeps_memory:
            config.update(zip(self._FUNCTION, function_config.dump(self._dropout_state_filter)))
        return config

    _FUNCTION = ("dropout_fn", "dropout_fn_type", "dropout_fn_module")

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return super().from_config(_with_function(config, cls._FUNCTION, "dropout_state_filter_visitor",
                                                  custom_objects), custom_objects)

    def _make_noise(self, dtype):
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")

        def noise(size, seed):
            shape = array_ops.concat(([1], tensor_shape.TensorShape(size).as_list()), 0)
            return random_ops.random_uniform(shape, seed=seed, dtype=dtype)

        def noises(sizes, salt):
            flat = nest.flatten(sizes)
            made = [noise(s, self._gen_seed(salt, i)) for i, s in enumerate(flat)]
            return nest.pack_sequence_as(sizes, made)

        if _drops(self._input_keep_prob):
            if self._input_size is None:
                raise ValueError("When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, input_size "
                                 "must be provided")
            self._recurrent_input_noise = noises(self._input_size, "input")
        self._recurrent_state_noise = noises(self.cell.state_size, "state")
        self._recurrent_output_noise = noises(self.cell.output_size, "output")

    def _gen_seed(self, salt_prefix, index):
        if self._seed is None:
            return None
        salt = "%s_%d" % (salt_prefix, index)
        digest = hashlib.md5((str(self._seed) + salt).encode("utf-8")).hexdigest()
        return int(digest[:8], 16) & 0x7FFFFFFF

    def _dropout(self, values, salt_prefix, noise, keep_prob, shallow_filtered_substructure=None):
        """`values` with elements dropped, where the filter says so."""
        if shallow_filtered_substructure is None:
            shallow_filtered_substructure = values

        def plain(i, do_dropout, v):
            if not isinstance(do_dropout, bool) or do_dropout:
                return nn_activation.dropout(v, keep_prob=keep_prob, seed=self._gen_seed(salt_prefix, i))
            return v

        def variational(do_dropout, v, n):
            if not isinstance(do_dropout, bool) or do_dropout:
                return self._variational(v, n, keep_prob)
            return v

        counter = [-1]

        def numbered(do_dropout, v):
            counter[0] += 1
            return plain(counter[0], do_dropout, v)

        if not self._variational_recurrent:
            return nest.map_structure_up_to(shallow_filtered_substructure, numbered, shallow_filtered_substructure,
                                            values)
        return nest.map_structure_up_to(shallow_filtered_substructure, variational, shallow_filtered_substructure,
                                        values, noise)

    @staticmethod
    def _variational(value, noise, keep_prob):
        # keep_prob + noise is at least 1 with probability keep_prob.
        mask = gen.floor(keep_prob + noise)
        kept = math_ops.div(value, keep_prob) * mask
        kept.set_shape(value.get_shape())
        return kept

    def _call_wrapped_cell(self, inputs, state, cell_call_fn, **kwargs):
        if _drops(self._input_keep_prob):
            inputs = self._dropout(inputs, "input", self._recurrent_input_noise, self._input_keep_prob)
        output, new_state = cell_call_fn(inputs, state, **kwargs)
        if _drops(self._state_keep_prob):
            shallow = nest.get_traverse_shallow_structure(self._dropout_state_filter, new_state)
            new_state = self._dropout(new_state, "state", self._recurrent_state_noise, self._state_keep_prob, shallow)
        if _drops(self._output_keep_prob):
            output = self._dropout(output, "output", self._recurrent_output_noise, self._output_keep_prob)
        return output, new_state


def _drops(keep_prob):
    return not isinstance(keep_prob, numbers.Real) or keep_prob < 1


class ResidualWrapper(_Wrapper):
    """Adds the inputs to the outputs, or calls `residual_fn` with both."""

    def __init__(self, cell, residual_fn=None, **kwargs):
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def get_config(self):
        config = super().get_config()
        if self._residual_fn is not None:
            config.update(zip(self._FUNCTION, function_config.dump(self._residual_fn)))
        return config

    _FUNCTION = ("residual_fn", "residual_fn_type", "residule_fn_module")  # as TensorFlow spells them

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return super().from_config(_with_function(config, cls._FUNCTION, "residual_fn", custom_objects), custom_objects)

    def _call_wrapped_cell(self, inputs, state, cell_call_fn, **kwargs):
        outputs, new_state = cell_call_fn(inputs, state, **kwargs)
        if self._residual_fn is not None:
            return self._residual_fn(inputs, outputs), new_state
        nest.assert_same_structure(inputs, outputs)
        nest.map_structure(lambda i, o: i.get_shape().assert_is_compatible_with(o.get_shape()), inputs, outputs)
        return nest.map_structure(lambda i, o: i + o, inputs, outputs), new_state


class DeviceWrapper(_Wrapper):
    """Puts the cell on a device."""

    def __init__(self, cell, device, **kwargs):
        super().__init__(cell, **kwargs)
        self._device = device

    def get_config(self):
        return {**super().get_config(), "device": self._device}

    def zero_state(self, batch_size, dtype):
        with ops.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]), ops.device(self._device):
            return self.cell.zero_state(batch_size, dtype)

    def _call_wrapped_cell(self, inputs, state, cell_call_fn, **kwargs):
        with ops.device(self._device):
            return cell_call_fn(inputs, state, **kwargs)
