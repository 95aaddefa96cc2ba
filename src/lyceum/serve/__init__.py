"""A server for model files: `lyceum serve model.lyceum`; see docs/serving.md.

It needs the extra `web`.
"""

from lyceum.serve.app import make_app
from lyceum.serve.serving import ServeSettings, serve
from lyceum.serve.shelf import Shelf

__all__ = ["ServeSettings", "Shelf", "make_app", "serve"]
