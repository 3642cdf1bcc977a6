"""The report as one self-contained HTML page: of a plan, or of a folder of benchmark runs.

Reads results, records, instances and plans; needs no solver and no network.
"""

from allocator.report.html.plan import plan_page

__all__ = ["plan_page"]
