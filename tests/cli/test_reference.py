"""The page of all commands is as the program tells it."""

from tests.cli.reference import PAGE, page


def test_every_command_and_option_is_on_the_page() -> None:
    assert PAGE.read_text() == page(), "run scripts/reference"
