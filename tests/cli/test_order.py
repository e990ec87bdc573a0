"""--order preserve: numbers and dates of a file, which are text in CSV files."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from skliftpriv import SubsetMergingSanitizer

WHICH = ["--sensitive", "sex", "--useful", "age"]
RANGES = [*WHICH, "--mechanism", "subset-merging", "--epsilon", "0.1", "--order", "preserve"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_numbers_are_merged_with_their_neighbours(folder, adult, run_json, suffix):
    rows = adult[["sex", "age"]].head(3000)
    rows = rows.assign(age=rows["age"] - 12)  # of one or two digits
    rows.to_csv("in.csv", index=False)
    rows.to_parquet("in.parquet")
    command = ["sanitize", f"in.{suffix}", "-o", "o.csv", *RANGES, "--chunk-rows", "700"]
    status, facts = run_json(*command, "--report", "page.html")
    assert status == 0
    assert facts["parameters"]["order"] == "preserve"
    sanitizer = SubsetMergingSanitizer("sex", "age", epsilon=0.1, order="preserve").fit(rows)
    expected = sanitizer.transform(rows)["age"].astype(str).tolist()
    assert pd.read_csv("o.csv", dtype=str)["age"].tolist() == expected
    assert any(" to " in label for label in expected)
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert " to " in page
    assert "order=&#x27;preserve&#x27;" in page or "order='preserve'" in page


def test_dates_of_a_csv_file_have_an_order(folder, adult, run):
    rows = adult[["sex", "age"]].head(3000)
    days = pd.Timestamp("2020-02-25") + pd.to_timedelta(rows["age"] // 10, unit="D")
    rows.assign(age=days.dt.strftime("%Y-%m-%d")).to_csv("in.csv", index=False)
    assert run("sanitize", "in.csv", "-o", "o.csv", *RANGES).status == 0
    released = set(pd.read_csv("o.csv")["age"])
    assert any(label.startswith("2020-02-26 to 2020-0") for label in released)


def test_an_ordered_dictionary_of_a_parquet_file_has_an_order(folder, adult, run):
    grades = ["young", "adult", "old"]
    ages = pd.cut(adult["age"], [0, 25, 45, 99], labels=grades)
    rows = pd.DataFrame({"sex": adult["sex"], "age": ages})
    pq.write_table(pa.Table.from_pandas(rows), "in.parquet", row_group_size=5000)
    assert run("sanitize", "in.parquet", "-o", "o.csv", *RANGES, "--chunk-rows", "4000").status == 0
    sanitizer = SubsetMergingSanitizer("sex", "age", epsilon=0.1, order="preserve").fit(rows)
    assert sanitizer.joint_.useful_labels == tuple(grades)
    assert set(pd.read_csv("o.csv")["age"]) == set(sanitizer.channel_.outputs)


def test_text_without_an_order_is_refused(small, refused):
    options = ["--mechanism", "subset-merging", "--order", "preserve"]
    which = ["--sensitive", "sex", "--useful", "occupation"]
    message = refused("sanitize", small, "-o", "o.csv", *which, *options)
    assert "--order preserve: occupation has no order in" in message
    assert "'?'" in message
    message = refused("sanitize", small, "-o", "o.csv", *which, "--useful", "age", *options)
    assert "one useful column" in message
    message = refused("sanitize", small, "-o", "o.csv", *WHICH, *options[2:], "--mechanism", "orr")
    assert "--mechanism subset-merging" in message


def test_a_curve_applies_it_where_it_can(small, run_json):
    mechanisms = ["--mechanism", "subset-merging", "watchdog"]
    command = ["curve", small, *WHICH, *mechanisms, "--epsilons", "0.3", "1"]
    _, free = run_json(*command)
    status, ordered = run_json(*command, "--order", "preserve")
    assert status == 0
    assert free != ordered
