"""Tests of Spaces."""
