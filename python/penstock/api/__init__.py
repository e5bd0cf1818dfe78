"""The public names: one table for each namespace of each version of the API.

`api/v1/nn.py` is the table of `tf.nn`, `api/v1/nn__rnn_cell.py` that of `tf.nn.rnn_cell`. The top level `tf` is the
union of the tables `api/v1/_*.py`, one for each family. A table defines either or both of

    FROM = {"ops.math_ops": "abs add reduce_mean multiply=mul"}     module -> names; public=attribute where they differ
    NAMES = {"float32": "framework.dtypes:float32", "nest": "util.nest:"}    public name -> module:attribute

with modules named below `penstock`; an empty attribute means the module itself. `framework.gen:NAME` is an op function
made from its definition. Nothing named here is imported before it is used.
"""
