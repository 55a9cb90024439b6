"""What ``phraseloom`` and ``python -m phraseloom`` start."""

import sys


def main() -> None:
    """Run the command line; a control-C while it is being loaded ends it in silence."""
    try:
        from phraseloom.cli import main as run  # here: loading it takes a while
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
