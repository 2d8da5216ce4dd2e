"""Programs that write files of the project: reference pages, migrations, screenshots. ``scripts/`` calls them."""
