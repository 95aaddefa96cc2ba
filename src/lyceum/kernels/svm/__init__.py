"""Support vector machines with a kernel."""
