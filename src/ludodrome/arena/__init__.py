"""The arena: bots play games; a referee judges them, clocks time them, records keep them. The rules are elsewhere."""
