"""The same module as penstock.v1."""
import penstock.v1  # noqa: F401  (enters itself in sys.modules under this name too)
