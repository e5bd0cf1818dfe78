"""The debugger's commands."""
