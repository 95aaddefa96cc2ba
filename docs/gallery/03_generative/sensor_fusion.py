"""
Two sensors are better than one
===============================

Each measurement is weighted by its precision. The fused density is narrower than both.
"""

from lyceum import plot

plot.sensor_fusion([1.0, 2.0], [1.0, 0.5], labels=["sonar", "radar"])
