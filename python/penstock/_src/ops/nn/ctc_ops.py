"""Connectionist temporal classification."""
from penstock._src.graph import dtypes, gen, ops, sparse_tensor, tensor_shape
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import cond, map_fn
from penstock._src.ops.nn import ctc_dense
from penstock._src.core_ops.arguments import pick

__all__ = ["collapse_repeated", "ctc_beam_search_decoder", "ctc_beam_search_decoder_v2", "ctc_greedy_decoder",
           "ctc_loss", "ctc_loss_dense", "ctc_loss_v2", "ctc_loss_v3", "ctc_unique_labels", "dense_labels_to_sparse"]


def ctc_loss(labels, inputs=None, sequence_length=None, preprocess_collapse_repeated=False, ctc_merge_repeated=True,
             ignore_longer_outputs_than_inputs=False, time_major=True, logits=None):
    """The negative log likelihood of label sequences, given logits for each time; the last class is the blank."""
    if not isinstance(labels, sparse_tensor.SparseTensor):
        raise TypeError("Expected labels (first argument) to be a SparseTensor")
    inputs = pick("logits", logits, "inputs", inputs)
    if not time_major:
        inputs = array_ops.transpose(inputs, [1, 0, 2])
    sequence_length = ops.convert_to_tensor(sequence_length, name="sequence_length")
    if sequence_length.dtype == dtypes.int64:
        sequence_length = math_ops.cast(sequence_length, dtypes.int32)
    loss, _ = gen.ctc_loss(inputs, labels.indices, labels.values, sequence_length,
                           preprocess_collapse_repeated=preprocess_collapse_repeated,
                           ctc_merge_repeated=ctc_merge_repeated,
                           ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs)
    return loss


def ctc_loss_v2(labels, logits, label_length, logit_length, logits_time_major=True, unique=None, blank_index=None,
                name=None):
    """The negative log likelihood of label sequences, given logits for each time.

    labels: a SparseTensor, or [batch, longest] of which the first `label_length` of each row count. blank_index: the
    class that is the blank; by default 0 for dense labels, negative ones count from the end. ValueError: sparse labels
    without it.
    """
    if not isinstance(labels, sparse_tensor.SparseTensor):
        return ctc_loss_dense(labels, logits, label_length, logit_length, logits_time_major, unique,
                              0 if blank_index is None else blank_index, name)
    if blank_index is None:
        raise ValueError("blank_index must be given when using SparseTensor labels.")
    with ops.name_scope(name, "ctc_loss", [logits]):
        logits = ops.convert_to_tensor(logits, name="logits")
        classes = tensor_shape.dimension_value(logits.shape[2])
        classes = array_ops.shape(logits)[2] if classes is None else classes
        if blank_index < 0:
            blank_index += classes
        # The op's blank is the last class: what is behind the given one moves down.
        logits = array_ops.concat([logits[:, :, :blank_index], logits[:, :, blank_index + 1:],
                                   logits[:, :, blank_index:blank_index + 1]], axis=2)
        values = labels.values - math_ops.cast(labels.values >= blank_index, labels.values.dtype)
        labels = sparse_tensor.SparseTensor(labels.indices, math_ops.cast(values, dtypes.int32), labels.dense_shape)
        return ctc_loss(labels, logits, logit_length, time_major=logits_time_major)


def ctc_loss_v3(labels, logits, label_length, logit_length, logits_time_major=True, unique=None, blank_index=None,
                name=None):
    """`ctc_loss_v2`, for logits of float16 and bfloat16 too, which are computed with as float32."""
    logits = ops.convert_to_tensor(logits, name="logits")
    kind = logits.dtype
    short = kind in (dtypes.float16, dtypes.bfloat16)
    loss = ctc_loss_v2(labels, math_ops.cast(logits, dtypes.float32) if short else logits, label_length, logit_length,
                       logits_time_major, unique, blank_index, name)
    return math_ops.cast(loss, kind) if short else loss


def ctc_loss_dense(labels, logits, label_length, logit_length, logits_time_major=True, unique=None, blank_index=0,
                   name=None):
    """`ctc_loss_v2` of dense labels; `unique` (see ctc_unique_labels) changes nothing.

    The op computes it where it can. Labels that are the blank or no class, rows without labels, and logits that are
    fewer than their labels need, which it refuses, have a loss too: the last a very large one.
    """
    with ops.name_scope(name, "ctc_loss_dense", [logits, labels, label_length, logit_length]):
        labels, logits = ops.convert_to_tensor(labels, name="labels"), ops.convert_to_tensor(logits, name="logits")
        label_length = ops.convert_to_tensor(label_length, name="label_length")
        logit_length = ops.convert_to_tensor(logit_length, name="logit_length")
        if not logits_time_major:
            logits = array_ops.transpose(logits, [1, 0, 2])
        if blank_index < 0:
            blank_index += tensor_shape.dimension_value(logits.shape[2]) or array_ops.shape(logits)[2]

        def by_op():
            sparse = dense_labels_to_sparse(labels, label_length)
            return ctc_loss_v2(sparse, logits, label_length, logit_length, blank_index=blank_index)

        def by_states():
            if isinstance(blank_index, int) and blank_index == 0:
                return ctc_dense.loss(labels, logits, label_length, logit_length)
            first = array_ops.concat([logits[:, :, blank_index:blank_index + 1], logits[:, :, :blank_index],
                                      logits[:, :, blank_index + 1:]], axis=2)
            moved = array_ops.where_v2(labels < math_ops.cast(blank_index, labels.dtype), labels + 1, labels)
            return ctc_dense.loss(moved, first, label_length, logit_length)

        return cond.cond(_are_ordinary(labels, logits, label_length, logit_length, blank_index), by_op, by_states)


def _are_ordinary(labels, logits, label_length, logit_length, blank_index):
    """Whether the op takes all rows."""
    shape = array_ops.shape(labels)
    lengths = math_ops.cast(label_length, dtypes.int32)
    counts = array_ops.sequence_mask(lengths, shape[1])
    classes = math_ops.cast(array_ops.shape(logits)[2], labels.dtype)
    bad = (labels < 0) | (labels >= classes) | math_ops.equal(labels, math_ops.cast(blank_index, labels.dtype))
    repeats = counts[:, 1:] & math_ops.equal(labels[:, 1:], labels[:, :-1])
    needed = lengths + math_ops.reduce_sum(math_ops.cast(repeats, dtypes.int32), axis=1)
    given = math_ops.cast(logit_length, dtypes.int32)
    fine = (lengths > 0) & (lengths <= shape[1]) & (needed <= given) & (given <= array_ops.shape(logits)[0])
    return math_ops.reduce_all(fine) & ~math_ops.reduce_any(counts & bad)


def dense_labels_to_sparse(dense, length):
    """The first `length[i]` values of each row i of a [batch, longest] tensor, as int32 SparseTensor."""
    dense, length = ops.convert_to_tensor(dense), ops.convert_to_tensor(length)
    mask = array_ops.sequence_mask(length, maxlen=array_ops.shape(dense)[1])
    shape = array_ops.stack([array_ops.shape(dense, out_type=dtypes.int64)[0],
                             math_ops.cast(math_ops.reduce_max(length), dtypes.int64)])
    values = math_ops.cast(array_ops.boolean_mask(dense, mask), dtypes.int32)
    return sparse_tensor.SparseTensor(array_ops.where(mask), values, shape)


def collapse_repeated(labels, seq_length, name=None):
    """(the rows without labels that repeat the one before, filled up with 0; their lengths).

    labels: [batch, longest], of which the first `seq_length[i]` of row i count.
    """
    with ops.name_scope(name, "collapse_repeated_labels", [labels, seq_length]):
        labels = ops.convert_to_tensor(labels, name="labels")
        seq_length = ops.convert_to_tensor(seq_length, name="seq_length")
        first = array_ops.ones_like(labels[:, :1], dtype=dtypes.bool)
        differs = array_ops.concat([first, math_ops.not_equal(labels[:, 1:], labels[:, :-1])], axis=1)
        stays = gen.logical_and(differs, array_ops.sequence_mask(seq_length, array_ops.shape(labels)[1]))
        lengths = math_ops.reduce_sum(math_ops.cast(stays, dtypes.int32), axis=1)
        places = array_ops.where(array_ops.sequence_mask(lengths, math_ops.reduce_max(lengths)))
        shape = array_ops.stack([array_ops.shape(labels)[0], math_ops.reduce_max(lengths)])
        collapsed = gen.scatter_nd(places, array_ops.boolean_mask(labels, stays), math_ops.cast(shape, places.dtype))
        collapsed.set_shape([labels.shape[0], None])
        return collapsed, math_ops.cast(lengths, seq_length.dtype)


def ctc_unique_labels(labels, name=None):
    """(the distinct labels of each row as int64, filled up with 0; for each label its place among them)."""
    with ops.name_scope(name, "ctc_unique_labels", [labels]):
        labels = ops.convert_to_tensor(labels, name="labels")

        def of_row(row):
            found = array_ops.unique(row)
            missing = array_ops.shape(found.idx)[0] - array_ops.shape(found.y)[0]
            return [math_ops.cast(array_ops.pad(found.y, [[0, missing]]), dtypes.int64), found.idx]

        return map_fn.map_fn(of_row, labels, dtype=[dtypes.int64, dtypes.int32])


def ctc_greedy_decoder(inputs, sequence_length, merge_repeated=True, blank_index=None):
    """([the best class at each time as SparseTensor], negative sum of its logits).

    blank_index: the class that is the blank; by default the last one, negative ones count from the end.
    """
    indices, values, shape, scores = gen.ctc_greedy_decoder(
        inputs, sequence_length, merge_repeated=merge_repeated, blank_index=-1 if blank_index is None else blank_index)
    return [sparse_tensor.SparseTensor(indices, values, shape)], scores


def ctc_beam_search_decoder(inputs, sequence_length, beam_width=100, top_paths=1, merge_repeated=True):
    """(the best paths as SparseTensors, their log probabilities)."""
    indices, values, shapes, scores = gen.ctc_beam_search_decoder(
        inputs, sequence_length, beam_width=beam_width, top_paths=top_paths, merge_repeated=merge_repeated)
    return [sparse_tensor.SparseTensor(*path) for path in zip(indices, values, shapes)], scores


def ctc_beam_search_decoder_v2(inputs, sequence_length, beam_width=100, top_paths=1):
    """(the best paths as SparseTensors, their log probabilities); repeated classes are kept."""
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, merge_repeated=False)
