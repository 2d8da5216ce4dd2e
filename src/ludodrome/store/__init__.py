"""What is kept in a database: the only SQL of the house."""
