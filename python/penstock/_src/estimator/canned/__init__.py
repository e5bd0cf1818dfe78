"""Estimators that are ready to use."""
