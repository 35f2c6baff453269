"""Scalar expressions over Arrow columns."""
