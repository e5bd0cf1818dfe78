"""Sequences of symbols as vectors."""
from penstock.contrib.framework import variables
from penstock.ops import array_ops
from penstock.ops import embedding_ops
from penstock.ops import variable_scope as vs

__all__ = ["embed_sequence", "embedding_lookup_unique"]


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
