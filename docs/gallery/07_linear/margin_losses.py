"""
Losses as functions of the margin
=================================

All losses punish a wrong side, differently far. The 0-1 loss has no slope to follow, so the
others stand in for it.
"""

from lyceum import plot

plot.margin_losses()
