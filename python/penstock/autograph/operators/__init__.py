"""What stands for Python's operators and statements in converted code."""
