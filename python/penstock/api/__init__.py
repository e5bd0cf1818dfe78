"""The public names: one table for each namespace of each version of the API.

`api/v1/nn.py` is the table of `tf.nn`, `api/v1/nn__rnn_cell.py` that of `tf.nn.rnn_cell`. The top level `tf` is the
union of the tables `api/v1/_*.py`, one for each family. A table defines any of

    FROM = {"core_ops.math_ops": "abs add multiply=mul"}     module -> names; public=attribute where they differ
    NAMES = {"float32": "graph.dtypes:float32", "nest": "base.nest:"}    public name -> module:attribute

and one of version 1, which has the rows of version 2's table of the same name too,

    WITHOUT = "add_v2 assert"                                names of version 2 that version 1 lacks

with modules named below `penstock._src`, or in full; an empty attribute means the module itself. `graph.gen:NAME` is an
op function made from its definition. Nothing named here is imported before it is used.
"""
# Tables of version 2 that serve version 1 too: api/v1 has none of these names.
SAME = """
    audio bitwise config__optimizer config__threading debugging__experimental dtypes__experimental experimental
    experimental__extension_type io__gfile linalg__experimental lookup__experimental math__special
    nn__experimental quantization queue types__experimental xla__experimental"""
