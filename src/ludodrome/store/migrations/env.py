"""What Alembic runs for every command: on the connection it was given, in the transaction that is open there."""

from alembic import context

from ludodrome.store.league_models import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,  # SQLite changes a table by rewriting it
    compare_type=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
