from lyceum.anomaly.detector import AnomalyDetector as AnomalyDetector
from lyceum.anomaly.isolation_forest import IsolationForest as IsolationForest
from lyceum.anomaly.neighbor_score import NeighborAnomalyScore as NeighborAnomalyScore
