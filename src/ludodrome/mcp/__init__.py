"""Language models play by the Model Context Protocol: matches, pictures, and the server with its tools."""
