"""What trees say: labels, paths, text and contributions."""
