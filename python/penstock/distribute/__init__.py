"""Clusters: who takes part."""
