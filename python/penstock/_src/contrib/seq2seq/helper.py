"""Helpers choose the input of a decoder's next step: from the target, from its own output, or from both."""
from penstock._src.contrib.seq2seq.sampling import bernoulli_sample, categorical_sample
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.core_ops import array_ops
from penstock._src.ops.nn import embedding_ops
from penstock._src.core_ops import math_ops
from penstock._src.control_flow import tensor_array_ops
from penstock._src.control_flow.cond import cond
from penstock._src.layers.rnn.rnn_dynamic import transpose_batch_time
from penstock._src.base import nest


def _steps(inputs):
    """Time-major inputs as an array of steps."""
    return tensor_array_ops.TensorArray(dtype=inputs.dtype, size=array_ops.shape(inputs)[0],
                                        element_shape=inputs.get_shape()[1:]).unstack(inputs)


def _embedding_function(embedding):
    return embedding if callable(embedding) else lambda ids: embedding_ops.embedding_lookup(embedding, ids)


def _probability(value):
    value = ops.convert_to_tensor(value, name="sampling_probability")
    if value.get_shape().ndims not in (0, 1):
        raise ValueError("sampling_probability must be either a scalar or a vector. saw shape: %s" % value.get_shape())
    return value


def _single(outputs):
    if not isinstance(outputs, ops.Tensor):
        raise TypeError("Expected outputs to be a single Tensor, got: %s" % type(outputs))
    return outputs


class Helper(object):
    """Base: sample(time, outputs, state) gives sample_ids, next_inputs(time, outputs, state, sample_ids) gives (which
    sequences have ended, next inputs, next state)."""

    @property
    def batch_size(self):
        """How many sequences there are."""
        raise NotImplementedError("batch_size has not been implemented")

    @property
    def sample_ids_shape(self):
        """The shape of one sample."""
        raise NotImplementedError("sample_ids_shape has not been implemented")

    @property
    def sample_ids_dtype(self):
        """The type of samples."""
        raise NotImplementedError("sample_ids_dtype has not been implemented")

    def initialize(self, name=None):
        """(which sequences have ended, first inputs)."""
        raise NotImplementedError

    def sample(self, time, outputs, state, name=None):
        """The samples of a step."""
        raise NotImplementedError

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        """(which sequences have ended, next inputs, next state)."""
        raise NotImplementedError


class _Numbers(Helper):
    """A helper whose samples are int32 numbers."""

    @property
    def sample_ids_shape(self):
        return tensor_shape.TensorShape([])

    @property
    def sample_ids_dtype(self):
        return dtypes.int32

    @property
    def batch_size(self):
        return self._batch_size


class CustomHelper(Helper):
    """A helper made of three functions."""

    def __init__(self, initialize_fn, sample_fn, next_inputs_fn, sample_ids_shape=None, sample_ids_dtype=None):
        self._initialize_fn = initialize_fn
        self._sample_fn = sample_fn
        self._next_inputs_fn = next_inputs_fn
        self._batch_size = None
        self._sample_ids_shape = tensor_shape.TensorShape(sample_ids_shape or [])
        self._sample_ids_dtype = sample_ids_dtype or dtypes.int32

    @property
    def batch_size(self):
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self):
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self):
        return self._sample_ids_dtype

    def initialize(self, name=None):
        with ops.name_scope(name, "%sInitialize" % type(self).__name__):
            finished, inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = array_ops.size(finished)
        return finished, inputs

    def sample(self, time, outputs, state, name=None):
        with ops.name_scope(name, "%sSample" % type(self).__name__, (time, outputs, state)):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        with ops.name_scope(name, "%sNextInputs" % type(self).__name__, (time, outputs, state)):
            return self._next_inputs_fn(time=time, outputs=outputs, state=state, sample_ids=sample_ids)


class TrainingHelper(_Numbers):
    """Inputs are those of the target; samples are the classes of the largest output."""

    def __init__(self, inputs, sequence_length, time_major=False, name=None):
        with ops.name_scope(name, "TrainingHelper", [inputs, sequence_length]):
            inputs = ops.convert_to_tensor(inputs, name="inputs")
            self._inputs = inputs
            if not time_major:
                inputs = nest.map_structure(transpose_batch_time, inputs)
            self._input_tas = nest.map_structure(_steps, inputs)
            self._sequence_length = ops.convert_to_tensor(sequence_length, name="sequence_length")
            if self._sequence_length.get_shape().ndims != 1:
                raise ValueError("Expected sequence_length to be a vector, but received shape: %s" %
                                 self._sequence_length.get_shape())
            self._zero_inputs = nest.map_structure(lambda x: array_ops.zeros_like(x[0, :]), inputs)
            self._batch_size = array_ops.size(sequence_length)

    @property
    def inputs(self):
        """All inputs."""
        return self._inputs

    @property
    def sequence_length(self):
        """The sequences' lengths."""
        return self._sequence_length

    def _read(self, time, all_finished):
        return cond(all_finished, lambda: self._zero_inputs,
                    lambda: nest.map_structure(lambda array: array.read(time), self._input_tas))

    def initialize(self, name=None):
        with ops.name_scope(name, "TrainingHelperInitialize"):
            finished = math_ops.equal(0, self._sequence_length)
            return finished, self._read(0, math_ops.reduce_all(finished))

    def sample(self, time, outputs, name=None, **unused_kwargs):
        with ops.name_scope(name, "TrainingHelperSample", [time, outputs]):
            return math_ops.cast(math_ops.argmax(outputs, axis=-1), dtypes.int32)

    def next_inputs(self, time, outputs, state, name=None, **unused_kwargs):
        with ops.name_scope(name, "TrainingHelperNextInputs", [time, outputs, state]):
            next_time = time + 1
            finished = next_time >= self._sequence_length
            return finished, self._read(next_time, math_ops.reduce_all(finished)), state


def _joined(base, where_sampled, sampled, where_not, rest):
    """Rows from two sources in the shape of `base`."""
    shape = array_ops.shape(base)
    return gen.scatter_nd(indices=where_sampled, updates=sampled, shape=shape) + \
        gen.scatter_nd(indices=where_not, updates=rest, shape=shape)


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """As TrainingHelper, but with a probability the next input is the embedding of a sample of the output."""

    def __init__(self, inputs, sequence_length, embedding, sampling_probability, time_major=False, seed=None,
                 scheduling_seed=None, name=None):
        with ops.name_scope(name, "ScheduledEmbeddingSamplingWrapper", [embedding, sampling_probability]):
            self._embedding_fn = _embedding_function(embedding)
            self._sampling_probability = _probability(sampling_probability)
            self._seed = seed
            self._scheduling_seed = scheduling_seed
            super().__init__(inputs=inputs, sequence_length=sequence_length, time_major=time_major, name=name)

    def sample(self, time, outputs, state, name=None):
        with ops.name_scope(name, "ScheduledEmbeddingTrainingHelperSample", [time, outputs, state]):
            # -1 where the target is taken.
            chosen = bernoulli_sample(probs=self._sampling_probability, dtype=dtypes.bool,
                                      sample_shape=self.batch_size, seed=self._scheduling_seed)
            return array_ops.where(chosen, categorical_sample(logits=outputs, seed=self._seed),
                                   gen.fill([self.batch_size], -1))

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        with ops.name_scope(name, "ScheduledEmbeddingTrainingHelperNextInputs", [time, outputs, state, sample_ids]):
            finished, base, state = super().next_inputs(time=time, outputs=outputs, state=state, sample_ids=sample_ids,
                                                        name=name)

            def mixed():
                sampled = math_ops.cast(array_ops.where(sample_ids > -1), dtypes.int32)
                others = math_ops.cast(array_ops.where(sample_ids <= -1), dtypes.int32)
                ids = array_ops.gather_nd(sample_ids, sampled)
                rest = array_ops.gather_nd(base, others)
                return _joined(base, sampled, self._embedding_fn(ids), others, rest)

            return finished, cond(math_ops.reduce_all(finished), lambda: base, mixed), state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """As TrainingHelper, but with a probability the next input is the output itself, or `next_inputs_fn` of it."""

    def __init__(self, inputs, sequence_length, sampling_probability, time_major=False, seed=None, next_inputs_fn=None,
                 auxiliary_inputs=None, name=None):
        with ops.name_scope(name, "ScheduledOutputTrainingHelper", [inputs, auxiliary_inputs, sampling_probability]):
            self._sampling_probability = _probability(sampling_probability)
            together = inputs
            if auxiliary_inputs is not None:
                inputs = ops.convert_to_tensor(inputs, name="inputs")
                auxiliary_inputs = ops.convert_to_tensor(auxiliary_inputs, name="auxiliary_inputs")
                together = nest.map_structure(lambda x, y: array_ops.concat((x, y), -1), inputs, auxiliary_inputs)
                if not time_major:
                    auxiliary_inputs = nest.map_structure(transpose_batch_time, auxiliary_inputs)
            self._auxiliary_input_tas = None if auxiliary_inputs is None else \
                nest.map_structure(_steps, auxiliary_inputs)
            self._seed = seed
            self._next_inputs_fn = next_inputs_fn
            super().__init__(inputs=together, sequence_length=sequence_length, time_major=time_major, name=name)

    def sample(self, time, outputs, state, name=None):
        with ops.name_scope(name, "ScheduledOutputTrainingHelperSample", [time, outputs, state]):
            return bernoulli_sample(probs=self._sampling_probability, sample_shape=self.batch_size, seed=self._seed)

    def _with_auxiliary(self, time, outputs, indices=None):
        if self._auxiliary_input_tas is None:
            return outputs
        extra = nest.map_structure(lambda array: array.read(time), self._auxiliary_input_tas)
        if indices is not None:
            extra = array_ops.gather_nd(extra, indices)
        return nest.map_structure(lambda x, y: array_ops.concat((x, y), -1), outputs, extra)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        with ops.name_scope(name, "ScheduledOutputTrainingHelperNextInputs", [time, outputs, state, sample_ids]):
            finished, base, state = super().next_inputs(time=time, outputs=outputs, state=state, sample_ids=sample_ids,
                                                        name=name)
            chosen = math_ops.cast(sample_ids, dtypes.bool)

            def mixed():
                if self._next_inputs_fn is None:
                    return array_ops.where(chosen, self._with_auxiliary(time + 1, outputs), base)
                sampled = math_ops.cast(array_ops.where(chosen), dtypes.int32)
                others = math_ops.cast(array_ops.where(gen.logical_not(chosen)), dtypes.int32)
                own = array_ops.gather_nd(outputs, sampled)
                rest = array_ops.gather_nd(base, others)
                own = self._with_auxiliary(time + 1, self._next_inputs_fn(own), sampled)
                return _joined(base, sampled, own, others, rest)

            all_finished = math_ops.reduce_all(finished)
            none_chosen = gen.logical_not(math_ops.reduce_any(chosen))
            return finished, cond(gen.logical_or(all_finished, none_chosen), lambda: base, mixed), state


class GreedyEmbeddingHelper(_Numbers):
    """The next input is the embedding of the class of the largest output; a sequence ends with `end_token`."""

    def __init__(self, embedding, start_tokens, end_token):
        self._embedding_fn = _embedding_function(embedding)
        self._start_tokens = ops.convert_to_tensor(start_tokens, dtype=dtypes.int32, name="start_tokens")
        self._end_token = ops.convert_to_tensor(end_token, dtype=dtypes.int32, name="end_token")
        if self._start_tokens.get_shape().ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._batch_size = array_ops.size(start_tokens)
        if self._end_token.get_shape().ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._start_inputs = self._embedding_fn(self._start_tokens)

    def initialize(self, name=None):
        return gen.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time, outputs, state, name=None):
        return math_ops.argmax(_single(outputs), axis=-1, output_type=dtypes.int32)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        finished = math_ops.equal(sample_ids, self._end_token)
        # Where all have ended, the samples may be no tokens.
        inputs = cond(math_ops.reduce_all(finished), lambda: self._start_inputs, lambda: self._embedding_fn(sample_ids))
        return finished, inputs, state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """As GreedyEmbeddingHelper, with classes drawn by the outputs as logits."""

    def __init__(self, embedding, start_tokens, end_token, softmax_temperature=None, seed=None):
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature = softmax_temperature
        self._seed = seed

    def sample(self, time, outputs, state, name=None):
        logits = _single(outputs)
        if self._softmax_temperature is not None:
            logits = logits / self._softmax_temperature
        return categorical_sample(logits=logits, seed=self._seed)


class InferenceHelper(Helper):
    """Samples by `sample_fn`, ends by `end_fn`, and goes on with the samples or `next_inputs_fn` of them."""

    def __init__(self, sample_fn, sample_shape, sample_dtype, start_inputs, end_fn, next_inputs_fn=None):
        self._sample_fn = sample_fn
        self._end_fn = end_fn
        self._sample_shape = tensor_shape.TensorShape(sample_shape)
        self._sample_dtype = sample_dtype
        self._next_inputs_fn = next_inputs_fn
        self._batch_size = array_ops.shape(start_inputs)[0]
        self._start_inputs = ops.convert_to_tensor(start_inputs, name="start_inputs")

    @property
    def batch_size(self):
        return self._batch_size

    @property
    def sample_ids_shape(self):
        return self._sample_shape

    @property
    def sample_ids_dtype(self):
        return self._sample_dtype

    def initialize(self, name=None):
        return gen.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time, outputs, state, name=None):
        return self._sample_fn(outputs)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        inputs = sample_ids if self._next_inputs_fn is None else self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), inputs, state
