"""What the derivative by something that has no influence is."""
import enum


class UnconnectedGradients(enum.Enum):
    """NONE: `None`; ZERO: zeros."""
    NONE = "none"
    ZERO = "zero"
