"""Test cases with Abseil's assertions, and what tests are run with."""
import unittest

from penstock._src.testing import test_assertions
from penstock._src.testing.test import StubOutForTesting, get_temp_dir as GetTempDir, main, mock, test_src_dir_path

__all__ = ["GetTempDir", "StatefulSessionAvailable", "StubOutForTesting", "TestCase", "main", "mock",
           "test_src_dir_path"]


class TestCase(test_assertions.Assertions, unittest.TestCase):
    """unittest's with Abseil's assertions."""


def StatefulSessionAvailable():  # noqa: N802
    """Whether a session may live on between calls: no, as in TensorFlow."""
    return False
