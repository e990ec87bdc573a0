"""What the benchmark of whole tables prints about its results."""

from __future__ import annotations

import numpy as np
import pandas as pd


def summary(results: pd.DataFrame) -> pd.DataFrame:
    """Return means and deviations over the splits, in the order of the results."""
    grouped = results.groupby(["table", "method", "setting"], sort=False, dropna=False)
    return grouped.agg(
        ours=("ours", "first"),
        sees_s=("sees_s", "first"),
        splits=("split", "count"),
        model=("model", "mean"),
        model_sd=("model", "std"),
        attacker=("attacker", "mean"),
        attacker_sd=("attacker", "std"),
        seconds=("seconds", "mean"),
    ).reset_index()


def spread(mean: float, deviation: float) -> str:
    return f"{mean:.3f}" if np.isnan(deviation) else f"{mean:.3f} ± {deviation:.3f}"


def show_table(means: pd.DataFrame) -> None:
    print("\n| method | setting | sees S | model's AUC | attacker's AUC | seconds |")
    print("|---|---|---|---|---|---|")
    for row in means.itertuples():
        print(
            f"| {row.method} | {row.setting} | {'yes' if row.sees_s else ''} "
            f"| {spread(row.model, row.model_sd)} | {spread(row.attacker, row.attacker_sd)} "
            f"| {row.seconds:.1f} |"
        )


def beats(one, other) -> bool:
    """Whether the model is better and the attacker no better; below 0.5 attackers are the same."""
    return max(0.5, one.attacker) <= max(0.5, other.attacker) and one.model > other.model


def doubt(one, other) -> str:
    """Say whether one may beat another by chance: within the sum of the deviations."""
    if min(one.splits, other.splits) < 2:
        return " (one split, so the deviation is not known)"
    by_model = one.model - other.model < one.model_sd + other.model_sd
    by_attacker = other.attacker - one.attacker < one.attacker_sd + other.attacker_sd
    return " (within the deviations)" if by_model or by_attacker else ""


def show_dominance(means: pd.DataFrame, which: str) -> None:
    """Say whether another method has a lower attacker's AUC and a higher model's AUC than ours.

    Our weaker mechanisms are beaten by our stronger ones, so what counts is our frontier: the
    settings that no other setting of ours beats. It is found on the same test rows and among more
    settings than others have, which favours ours where test rows are few; so the numbers of
    settings are printed. Means over different splits are not compared: only settings that were
    measured on the most splits take part.
    """
    most = means["splits"].max()
    left_out = int((means["splits"] < most).sum())
    means = means[means["splits"] == most]
    ours = [row for row in means.itertuples() if row.ours]
    others = [row for row in means.itertuples() if not row.ours]
    if not ours or not others:
        return
    frontier = [row for row in ours if not any(beats(one, row) for one in ours)]
    found = [(one, row) for one in others for row in frontier if beats(one, row)]
    print(
        f"\nOur frontier, {which}: {', '.join(f'{row.method} {row.setting}' for row in frontier)}."
    )
    print(
        f"{len(ours)} settings of ours and {len(others)} of others are compared, on {most} "
        f"split{'s' if most > 1 else ''} each; {left_out} with fewer splits are left out."
    )
    if not found:
        print("No other method beats a setting on it.")
    for one, row in found:
        print(
            f"BEATEN{doubt(one, row)}: {one.method} {one.setting} "
            f"({one.model:.3f} / {one.attacker:.3f}) beats {row.method} {row.setting} "
            f"({row.model:.3f} / {row.attacker:.3f})."
        )
    weaker = {
        f"{row.method} {row.setting}"
        for row in ours
        if row not in frontier and any(beats(one, row) for one in others)
    }
    if weaker:
        print(f"Off the frontier, and beaten by another method: {', '.join(sorted(weaker))}.")


def show_promises(results: pd.DataFrame) -> None:
    """Say whether our certificates hold, and whether attackers gained more than the bound."""
    ours = results[results["ours"].astype(bool)]
    if ours.empty:
        return
    excess = ours["gain"] - ours["bound"]
    print(
        f"\nOurs: the certificate holds in {ours['certified'].astype(bool).mean():.0%} of "
        f"{len(ours)} fits. The attacker's gain in accuracy exceeds its bound in "
        f"{(excess > 0).sum()}, and by more than two standard errors in "
        f"{(excess > 2 * ours['error']).sum()}; the largest excess is {excess.max():+.4f}."
    )


def show(results: pd.DataFrame) -> None:
    """Print a table, the dominance check and the promises for every table of the results."""
    done = results[results["problem"] == ""]
    for name, rows in done.groupby("table", sort=False):
        n_splits = rows["split"].nunique()
        print(f"\n## {name}, {n_splits} split{'s' if n_splits > 1 else ''}")
        means = summary(rows)
        show_table(means)
        show_dominance(means, "all methods")
        show_dominance(means[~means["sees_s"].astype(bool)], "methods that do not see S")
        show_promises(rows)
    failed = results[results["problem"] != ""]
    for (method, problem), rows in failed.groupby(["method", "problem"], sort=False):
        print(f"\nNot measured: {method} on {', '.join(rows['table'].unique())}: {problem}")
