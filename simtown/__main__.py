"""python -m simtown: the command line."""

from simtown.cli import main

if __name__ == "__main__":
    main()
