"""Sanitise the embedded Adult table and say what was done: ``python -m skliftpriv``."""

from __future__ import annotations

from skliftpriv import SubsetMergingSanitizer
from skliftpriv.datasets import load_adult


def main() -> None:
    """Protect relationship in a release of occupation, and print what it cost."""
    adult = load_adult()[["relationship", "occupation"]]
    sanitizer = SubsetMergingSanitizer("relationship", "occupation", notion="lip", epsilon=0.5)
    released = sanitizer.fit_transform(adult)

    print(f"Adult census table: {len(adult):,} rows.")
    print("Sensitive: relationship. Useful: occupation. Mechanism: subset merging.\n")
    print("The first rows, before and after:")
    for before, after in zip(adult["occupation"][:5], released["occupation"][:5], strict=True):
        print(f"  {before:<18} -> {after}")
    print(f"\n{sanitizer.report_}\n\n{sanitizer.guarantee_}")


if __name__ == "__main__":
    main()
