"""The routes, one file a noun. They read requests and write answers; what happens is elsewhere."""
