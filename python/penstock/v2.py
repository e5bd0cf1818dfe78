"""TensorFlow 2's module: `import penstock.v2 as tf`. The names are in penstock/api/v2."""
from penstock.api import lazy, version_two

lazy.build("v2", ["penstock.v2"])
version_two.switch()
