"""``python -m ludodrome``: the command line."""

from ludodrome.cli import main

if __name__ == "__main__":
    main()
