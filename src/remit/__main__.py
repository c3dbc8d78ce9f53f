"""`python -m remit` is the command line."""

from remit.cli.main import main

if __name__ == "__main__":
    main()
