"""Around supervised learning: unlabelled rows, active learning, transfer, anomalies, reinforcement."""

__all__: list[str] = []
