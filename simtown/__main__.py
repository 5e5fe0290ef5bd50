"""python -m simtown: the command line."""

if __name__ == "__main__":
    import os
    import sys

    # Python put the working directory first on the path; it may hold modules of others.
    if not sys.flags.safe_path and sys.path[0] == os.getcwd() and not os.path.isdir("simtown"):
        del sys.path[0]

from simtown.cli import main

if __name__ == "__main__":
    main()
