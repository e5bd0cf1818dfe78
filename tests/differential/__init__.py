"""Random programs that run in several ways whose results are compared; `run.py` lists the ways."""
