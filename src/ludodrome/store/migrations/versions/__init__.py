"""The revisions of the tables, the oldest first."""
