"""Makes branch_testing importable: tests of this folder are imported by their paths."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
