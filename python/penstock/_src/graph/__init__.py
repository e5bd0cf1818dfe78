"""Graph, Operation, Tensor, eager tensors, types and shapes, scopes, op functions."""
