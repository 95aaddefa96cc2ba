"""`python -m lyceum` is the command `lyceum`."""

from lyceum.cli import main

if __name__ == "__main__":
    main()
