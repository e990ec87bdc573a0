"""Save a fitted sanitiser as a file of data, and release rows by it elsewhere."""

from ._loaded import LoadedSanitizer
from ._places import PendingFile, PendingFolder, resolved, write_whole
from ._save_load import load, save, saved_bytes

__all__ = [
    "LoadedSanitizer",
    "PendingFile",
    "PendingFolder",
    "load",
    "resolved",
    "save",
    "saved_bytes",
    "write_whole",
]
