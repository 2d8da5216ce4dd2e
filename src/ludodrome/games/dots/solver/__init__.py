"""The exact solver of dots and boxes."""
