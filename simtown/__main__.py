"""python -m simtown: the command line."""

if __name__ == "__main__":
    import sys

    from simtown.core.isolation import leave_working_directory

    leave_working_directory(sys.path)

from simtown.cli import main

if __name__ == "__main__":
    main()
