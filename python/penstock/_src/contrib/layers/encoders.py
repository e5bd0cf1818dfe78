"""Sequences of symbols as vectors."""
from penstock._src.contrib.framework import variables
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.graph import sparse_tensor
from penstock._src.core_ops import array_ops
from penstock._src.ops.nn import embedding_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.state import variable_scope as vs

__all__ = ["bow_encoder", "embed_sequence", "embedding_lookup_unique"]


def embedding_lookup_unique(params, ids, partition_strategy="mod", name=None):
    """embedding_lookup that looks each id up once, however often it occurs."""
    with vs.variable_scope(name, "EmbeddingLookupUnique", [params, ids]):
        shape = array_ops.shape(ids)
        unique, places = array_ops.unique(array_ops.reshape(ids, [-1]))
        rows = array_ops.gather(embedding_ops.embedding_lookup(params, unique, partition_strategy), places)
        embedded = array_ops.reshape(rows, array_ops.concat([shape, array_ops.shape(rows)[1:]], 0))
        embedded.set_shape(ids.shape.concatenate(rows.shape[1:]))
        return embedded


def embed_sequence(ids, vocab_size=None, embed_dim=None, unique=False, initializer=None, regularizer=None,
                   trainable=True, scope=None, reuse=None):
    """Rows [..., embed_dim] of the variable "embeddings" for ids. ValueError without sizes, unless it is reused."""
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError("Must specify vocab size and embedding dimension when not reusing. Got vocab_size=%s and "
                         "embed_dim=%s" % (vocab_size, embed_dim))
    with vs.variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        embeddings = variables.model_variable(
            "embeddings", shape=None if vocab_size is None or embed_dim is None else [vocab_size, embed_dim],
            initializer=initializer, regularizer=regularizer, trainable=trainable)
        return (embedding_lookup_unique if unique else embedding_ops.embedding_lookup)(embeddings, ids)


def _dense_to_sparse(ids):
    """The ids that are not the padding: 0, or "" among strings."""
    with ops.name_scope("DenseToSparseTensor"):
        ids = ops.convert_to_tensor(ids)
        ignored = math_ops.cast("" if ids.dtype == dtypes.string else ids.dtype.as_numpy_dtype(), ids.dtype,
                                name="ignore_value")
        indices = array_ops.where(math_ops.not_equal(ids, ignored), name="indices")
        return sparse_tensor.SparseTensor(indices, array_ops.gather_nd(ids, indices, name="values"),
                                          array_ops.shape(ids, out_type=dtypes.int64, name="dense_shape"))


def bow_encoder(ids, vocab_size, embed_dim, sparse_lookup=True, initializer=None, regularizer=None, trainable=True,
                scope=None, reuse=None):
    """The mean [batch, embed_dim] of the rows of `ids`; with `sparse_lookup`, zeros in `ids` are padding.

    ValueError without sizes; TypeError for sparse ids in a dense look-up.
    """
    if not vocab_size or not embed_dim:
        raise ValueError("Must specify vocab size and embedding dimension")
    with vs.variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        embeddings = variables.model_variable("embeddings", shape=[vocab_size, embed_dim], initializer=initializer,
                                              regularizer=regularizer, trainable=trainable)
        sparse = isinstance(ids, sparse_tensor.SparseTensor)
        if sparse_lookup:
            return embedding_ops.safe_embedding_lookup_sparse(
                [embeddings], ids if sparse else _dense_to_sparse(ids), combiner="mean", default_id=0)
        if sparse:
            raise TypeError("ids are expected to be dense Tensor, got: %s" % (ids,))
        return math_ops.reduce_mean(embedding_ops.embedding_lookup(embeddings, ids), axis=1)
