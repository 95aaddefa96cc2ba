"""
Sensors that are good in different directions
=============================================

One sensor is sure about one axis, the other about the other. Together they are sure about both.
"""

from lyceum import plot

plot.sensor_fusion_cases()
