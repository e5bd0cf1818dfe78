"""Losses that look at a sample of the classes only."""
from penstock._src.graph import dtypes, gen, ops
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.ops.nn import candidate_sampling_ops, embedding_ops
from penstock._src.ops.nn.nn_loss import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits_v2

__all__ = ["nce_loss", "nce_loss_v2", "sampled_softmax_loss", "sampled_softmax_loss_v2"]


def _sum_rows(x):
    """The sums of the rows, as a product with ones, whose gradient is cheaper than reduce_sum's."""
    ones = array_ops.ones(array_ops.stack([array_ops.shape(x)[1], 1]), x.dtype)
    return array_ops.reshape(math_ops.matmul(x, ones), [-1])


def _compute_sampled_logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
                            subtract_log_q=True, remove_accidental_hits=False, partition_strategy="mod", name=None,
                            seed=None):
    """(logits, labels) of the true classes followed by the sampled ones."""
    weights = embedding_ops.as_list(weights)
    with ops.name_scope(name, "compute_sampled_logits", weights + [biases, inputs, labels]):
        if labels.dtype != dtypes.int64:
            labels = math_ops.cast(labels, dtypes.int64)
        flat_labels = array_ops.reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = candidate_sampling_ops.log_uniform_candidate_sampler(
                true_classes=labels, num_true=num_true, num_sampled=num_sampled, unique=True, range_max=num_classes,
                seed=seed)
        sampled, true_count, sampled_count = [gen.stop_gradient(value) for value in sampled_values]
        sampled = math_ops.cast(sampled, dtypes.int64)
        ids = array_ops.concat([flat_labels, sampled], 0)

        def rows(params):
            found = embedding_ops.embedding_lookup(params, ids, partition_strategy=partition_strategy)
            return found if found.dtype == inputs.dtype else math_ops.cast(found, inputs.dtype)

        all_weights = rows(weights)
        true_weights = array_ops.slice(all_weights, [0, 0], array_ops.stack([array_ops.shape(flat_labels)[0], -1]))
        others = array_ops.slice(all_weights, array_ops.stack([array_ops.shape(flat_labels)[0], 0]), [-1, -1])
        sampled_logits = math_ops.matmul(inputs, others, transpose_b=True)
        all_biases = rows(biases)
        true_biases = array_ops.slice(all_biases, [0], array_ops.shape(flat_labels))
        other_biases = array_ops.slice(all_biases, array_ops.shape(flat_labels), [-1])

        width = array_ops.shape(true_weights)[1:2]
        by_example = array_ops.concat([[-1, num_true], width], 0)
        products = gen.mul(array_ops.expand_dims(inputs, 1), array_ops.reshape(true_weights, by_example))
        products = array_ops.reshape(products, array_ops.concat([[-1], width], 0))
        true_logits = array_ops.reshape(_sum_rows(products), [-1, num_true])
        true_biases = array_ops.reshape(true_biases, [-1, num_true])
        true_logits += true_biases
        sampled_logits += other_biases

        if remove_accidental_hits:
            sampled_logits += _penalty_of_hits(labels, sampled, sampled_logits, num_true, num_sampled)
        if subtract_log_q:
            true_logits -= gen.log(true_count)
            sampled_logits -= gen.log(sampled_count)
        logits = array_ops.concat([true_logits, sampled_logits], 1)
        targets = array_ops.concat([array_ops.ones_like(true_logits) / num_true, array_ops.zeros_like(sampled_logits)],
                                   1)
        return logits, targets


def _penalty_of_hits(labels, sampled, sampled_logits, num_true, num_sampled):
    """A large negative number where a sampled class is a true one."""
    examples, places, penalties = candidate_sampling_ops.compute_accidental_hits(labels, sampled, num_true=num_true)
    examples = array_ops.reshape(examples, [-1, 1])
    places = array_ops.reshape(math_ops.cast(places, dtypes.int32), [-1, 1])
    indices = array_ops.concat([examples, places], 1, "sparse_indices")
    shape = array_ops.concat([array_ops.shape(labels)[:1], array_ops.expand_dims(num_sampled, 0)], 0)
    if sampled_logits.dtype != penalties.dtype:
        penalties = math_ops.cast(penalties, sampled_logits.dtype)
    return gen.sparse_to_dense(indices, shape, penalties, default_value=0.0, validate_indices=False)


def nce_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
             remove_accidental_hits=False, partition_strategy="mod", name="nce_loss"):
    """Noise-contrastive estimation: tells the true classes from sampled ones."""
    logits, labels = _compute_sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, True,
        remove_accidental_hits, partition_strategy, name)
    return _sum_rows(sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="sampled_losses"))


def nce_loss_v2(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
                remove_accidental_hits=False, name="nce_loss"):
    """Noise-contrastive estimation: tells the true classes from sampled ones."""
    return nce_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
                    remove_accidental_hits, "div", name)


def sampled_softmax_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
                         remove_accidental_hits=True, partition_strategy="mod", name="sampled_softmax_loss", seed=None):
    """Softmax cross-entropy over the true classes and sampled ones."""
    logits, labels = _compute_sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, True,
        remove_accidental_hits, partition_strategy, name, seed)
    labels = gen.stop_gradient(labels, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)


def sampled_softmax_loss_v2(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
                            remove_accidental_hits=True, seed=None, name="sampled_softmax_loss"):
    """Softmax cross-entropy over the true classes and sampled ones."""
    return sampled_softmax_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
                                remove_accidental_hits, "div", name, seed)
