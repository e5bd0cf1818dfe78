"""The used part of Keras as version 1's programs import it from inside of TensorFlow."""
