"""Attacks that once succeeded, and the fuzz targets of every parser."""
