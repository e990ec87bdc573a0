"""What each mechanism keeps of several columns at once, in a limited time.

The useful columns are one joint symbol, so X has hundreds of values, most of them rare.

Run: python examples/benchmarks/wide_products.py [--quick]
"""

import argparse

from skliftpriv import ORRSanitizer, SRRSanitizer, SubsetMergingSanitizer
from skliftpriv.datasets import load_adult
from skliftpriv.model_selection import tradeoff_curve

SENSITIVE = ("sex", "race", "relationship")
PRODUCTS = (
    ["occupation", "education"],
    ["occupation", "workclass", "race"],
    ["occupation", "education", "marital-status"],
)


def sanitizers(sensitive, useful, seconds):
    columns = {"sensitive": sensitive, "useful": useful}
    found = {"subset merging": SubsetMergingSanitizer(**columns)}
    for limit in seconds:
        found[f"SRR, {limit} s"] = SRRSanitizer(**columns, time_limit=limit)
        found[f"ORR, {limit} s"] = ORRSanitizer(**columns, time_limit=limit)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one second, two small products")
    quick = parser.parse_args().quick
    seconds = (1,) if quick else (10, 60)
    adult = load_adult().head(3000 if quick else None)
    for useful in PRODUCTS[: 1 if quick else None]:
        n_values = len(adult[useful].drop_duplicates())
        print(f"\n{' x '.join(useful)}: {n_values} values, {len(adult):,} rows")
        for sensitive in SENSITIVE[: 2 if quick else None]:
            if sensitive in useful:
                continue
            curve = tradeoff_curve(
                sanitizers(sensitive, useful, seconds), adult, [1.0] if quick else [0.5, 1.0]
            )
            shown = curve[["mechanism", "epsilon", "nmi", "gap", "seconds"]].round(3)
            print(f"\nsensitive: {sensitive}\n{shown.to_string(index=False)}", flush=True)


if __name__ == "__main__":
    main()
