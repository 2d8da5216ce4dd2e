"""Environments for learners and for agents who read and write text. Nothing heavy is imported before it is used."""

NAMESPACE = "ludodrome"
VERSION = 0


def env_id(name: str) -> str:
    """The id under which other people's frameworks know an environment."""
    return f"{NAMESPACE}/{name[:1].upper()}{name[1:]}-v{VERSION}"
