"""Trains the demo model: a small DUSt3R that learns geometry from procedural scenes alone."""
