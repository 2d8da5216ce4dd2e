"""The routes, one module per noun: its API and its pages."""
