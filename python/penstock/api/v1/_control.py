"""tf: conditionals."""
FROM = {"ops.cond": "case cond"}
