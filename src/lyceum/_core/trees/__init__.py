"""What trees and ensembles of trees are made of: the tree, its columns and bins, growth, routing,
labels."""

from lyceum._core.first_use import import_on_first_use

__getattr__, __dir__, __all__ = import_on_first_use(__name__)
