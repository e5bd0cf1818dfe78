"""TensorFlow 1.15's module: `import penstock.v1 as tf`. The names stand in penstock/api/v1."""
from penstock.api import lazy

lazy.build("v1", ["penstock.v1", "penstock.compat.v1"])
