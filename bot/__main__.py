"""`python -m bot`, the same program as `seamguard`."""

from bot.cli import main

if __name__ == "__main__":
    main()
