"""The families of cases, each in a file cases_FAMILY.py with a list CASES."""

import importlib

NAMES = [
    "unary",
    "binary",
    "reduction",
    "arrays",
    "slicing",
    "gather",
    "matmul",
    "segment",
    "sorting",
    "nn",
    "random",
    "state",
    "sparse",
    "nn_grad",
    "counting",
    "strings",
    "linalg",
    "image",
    "summary",
    "layout",
    "resampling",
    "spectral",
    "parsing",
    "random_states",
    "audio",
]


def cases(family):
    return importlib.import_module("cases_" + family).CASES
