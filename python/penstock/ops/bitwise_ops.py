"""Bitwise operations: all of them are made from their definitions."""
from penstock.ops.arguments import made_function

__getattr__ = made_function(__name__)
