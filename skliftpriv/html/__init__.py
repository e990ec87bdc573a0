"""A report page on a release: one HTML file without scripts that loads nothing."""

from ._page import report_page, write_report
from ._words import package_version

__all__ = ["package_version", "report_page", "write_report"]
