"""Nests, decorators, hooks, logging: no idea of tensors."""
