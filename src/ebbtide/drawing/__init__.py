"""Drawings as SVG: rows over time, and plans with what is proved about them.

    timeline_svg(changes, now=, progress=, title=) -> str     bars over time
    plan_svg(explanation) -> str                              boxes and arrows

The input is plain data, and the output is text that any browser shows; nothing here knows of
queries or of Spark.
"""

from ebbtide.drawing.lanes import Bar
from ebbtide.drawing.plan import Explained, plan_svg
from ebbtide.drawing.timeline import timeline_svg

__all__ = ["Bar", "Explained", "plan_svg", "timeline_svg"]
