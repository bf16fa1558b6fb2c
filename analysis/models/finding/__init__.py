"""Finders of the parts of any model's layers, by following tensors through one forward pass."""
