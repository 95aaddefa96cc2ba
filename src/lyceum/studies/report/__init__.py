"""The report of a study: sentences, pictures, pages."""
