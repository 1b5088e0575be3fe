"""Run the command line: ``python -m ireneo``."""

from ireneo.faces.entry import run

if __name__ == "__main__":
    run()
