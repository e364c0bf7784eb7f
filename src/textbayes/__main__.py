"""``python -m textbayes``: the command, where its script is not on the path."""

from textbayes.cli.main import main

if __name__ == "__main__":
    main()
