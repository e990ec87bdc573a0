"""A page on a release that needs nothing else: no network, no script, no other file."""

from ._page import report_page, write_report
from ._words import package_version

__all__ = ["package_version", "report_page", "write_report"]
