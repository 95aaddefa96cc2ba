"""Workbooks: their sheets by calamine, and what their parts say that calamine does not."""
