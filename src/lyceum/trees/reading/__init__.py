"""Trees as rules, records and summaries."""
