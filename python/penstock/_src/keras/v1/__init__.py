"""The part of Keras that version 1 programs meet outside Keras: models as Python classes."""
