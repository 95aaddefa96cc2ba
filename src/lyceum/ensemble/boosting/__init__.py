"""AdaBoost and gradient boosting."""
