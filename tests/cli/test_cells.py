"""--cells: whole tables on the command line, as in Python, in three passes over the file."""

import importlib.util
import json

import numpy as np
import pandas as pd
import pytest

from skliftpriv import ORRSanitizer, SubsetMergingSanitizer
from skliftpriv.cells import _choice, learning_rows
from skliftpriv.cli import _sanitize
from skliftpriv.cli._console import as_json
from skliftpriv.datasets import load_adult

WHICH = ["--sensitive", "sex", "--epsilon", "0.5"]
CELLS = [*WHICH, "--cells", "8"]
TARGET = ["--target", "income"]
TYPICAL = ["--output-kind", "typical"]
SUFFIXES = ["csv", "parquet"]


@pytest.fixture(scope="module")
def table():
    """Numbers, text and missing values of both."""
    names = ["age", "sex", "hours-per-week", "workclass", "marital-status", "income"]
    rows = load_adult()[names].head(3000).astype({"hours-per-week": object})
    rows.loc[rows.index % 7 == 0, "hours-per-week"] = None
    rows.loc[rows.index % 11 == 0, "workclass"] = None
    return rows.astype({"hours-per-week": float})


@pytest.fixture
def store(folder, table):
    """Write the table to a file of a kind, and return its name."""

    def write(suffix, rows=None, name="in"):
        rows = table if rows is None else rows
        if suffix == "parquet":
            pytest.importorskip("pyarrow")
            rows.to_parquet(f"{name}.parquet", index=False)
        else:
            # Whole numbers, some of which are missing.
            rows.to_csv(f"{name}.{suffix}", index=False, float_format="%.0f")
        return f"{name}.{suffix}"

    return write


def read(path):
    return pd.read_parquet(path) if path.endswith("parquet") else pd.read_csv(path)


def same_report(facts, sanitizer):
    expected = json.loads(as_json(sanitizer.report_.to_dict()))
    for part in ("before", "after"):
        assert facts["report"][part] == pytest.approx(expected[part])
    assert (
        facts["guarantee"]["cells"] == json.loads(as_json(sanitizer.guarantee_.to_dict()))["cells"]
    )


# ---- as in Python


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("confidence", [None, 0.9])
@pytest.mark.parametrize("target", [False, True])
def test_cells_are_those_of_python(store, table, run_json, suffix, confidence, target):
    path = store(suffix)
    sure = [] if confidence is None else ["--confidence", confidence]
    command = [path, "-o", f"o.{suffix}", *CELLS, *TARGET * target, *sure, *TYPICAL]
    # Parts of several rows, some of which are learnt from.
    status, facts = run_json("sanitize", *command, "--chunk-rows", 250)
    assert status == 0
    sanitizer = SubsetMergingSanitizer("sex", epsilon=0.5, cells=8, confidence=confidence)
    sanitizer.set_params(output="typical")
    X = table.drop(columns="income") if target else table
    expected = sanitizer.fit(X, table["income"] if target else None).transform(X)
    same_report(facts, sanitizer)
    predicted = "the target" if target else "the columns"
    assert f"predicts {predicted} and" in facts["guarantee"]["cells"]["made_by"]
    assert facts["guarantee"]["n_rows"] == (3000 if confidence is None else 2000)
    assert facts["released_columns"] == list(expected.columns)
    released = read(f"o.{suffix}")
    # Subset merging draws nothing.
    pd.testing.assert_frame_equal(released, expected, check_dtype=False)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_large_files_are_sampled_as_in_python(store, table, run_json, suffix, monkeypatch):
    monkeypatch.setattr(_choice, "_MOST_ROWS", 500)
    command = [store(suffix), "-o", f"o.{suffix}", *CELLS, *TARGET, "--chunk-rows", 300]
    for sure in ([], ["--confidence", "0.8"]):
        status, facts = run_json("sanitize", *command, *sure)
        assert status == 0
        sanitizer = SubsetMergingSanitizer("sex", epsilon=0.5, cells=8)
        sanitizer.set_params(confidence=0.8 if sure else None)
        sanitizer.fit(table.drop(columns="income"), table["income"])
        same_report(facts, sanitizer)
        assert facts["guarantee"]["cells"]["n_rows"] == 500
        assert facts["guarantee"]["n_rows"] == (2500 if sure else 3000)


def test_the_target_is_kept_by_orr_and_predicted_by_the_cells_of_all(store, table, run_json):
    command = ["sanitize", store("csv"), "-o", "o.csv", *CELLS, *TARGET, "--mechanism"]
    sanitizer = ORRSanitizer("sex", epsilon=0.5, cells=8, utility="target")
    sanitizer.fit(table.drop(columns="income"), table["income"])
    status, facts = run_json(*command, "orr")
    assert status == 0
    same_report(facts, sanitizer)
    assert facts["report"]["utility_kept"] == pytest.approx(sanitizer.report_.utility_kept)
    assert facts["report"]["target"] is not None
    for mechanism in ("watchdog", "grr", "srr", "conditional"):
        status, facts = run_json(*command, mechanism)
        assert status == 0
        assert "predicts the target" in facts["guarantee"]["cells"]["made_by"]
        assert facts["report"]["target"] is None
        assert facts["released_columns"] == ["cell"]


@pytest.mark.slow
def test_rows_that_cells_are_learnt_from_are_not_counted(store, table, run_json, here):
    here()
    learnt = learning_rows(len(table), apart=True)
    # Only rows that are learnt from have this value.
    rows = table.assign(sex=table["sex"].where(~table.index.isin(learnt[:40]), "unknown"))
    command = ["explain", store("csv", rows), *CELLS, "--chunk-rows", "10", "--time-limit", "0.1"]
    status, facts = run_json(*command, "--confidence", "0.9")
    assert status == 0
    assert facts["data"]["rows"] == len(table) - learnt.size == 2000
    assert facts["data"]["sensitive_values"] == 2
    status, facts = run_json(*command)
    assert status == 0
    assert facts["data"]["rows"] == 3000
    assert facts["data"]["sensitive_values"] == 3


# ---- which columns, and what is released of them


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_useful_columns_may_be_named(store, run_json, suffix):
    named = ["--useful", "workclass", "--useful", "age"]
    command = ["sanitize", store(suffix), "-o", f"o.{suffix}", *CELLS, *named, *TYPICAL]
    status, facts = run_json(*command)
    assert status == 0
    assert facts["released_columns"] == facts["parameters"]["useful"] == ["workclass", "age"]
    assert list(read(f"o.{suffix}").columns) == ["workclass", "age"]


def test_the_target_is_not_released_unless_asked_for(store, run):
    command = ["sanitize", store("csv"), "-o", "o.csv", *CELLS, *TARGET]
    assert run(*command).status == 0
    assert list(read("o.csv").columns) == ["cell"]
    done = run(*command, "--keep-other-columns")
    assert "releases income unchanged" in done.err
    assert list(read("o.csv").columns) == ["cell", "income"]


def test_an_index_that_pandas_stored_is_not_useful(store, table, run_json):
    pytest.importorskip("pyarrow")
    table.iloc[::-1].to_parquet("in.parquet", index=True)
    status, facts = run_json("sanitize", "in.parquet", "-o", "o.csv", *CELLS)
    assert status == 0
    assert facts["parameters"]["useful"] == [name for name in table if name != "sex"]


def test_numbers_are_written_as_they_were(folder, run):
    rng = np.random.default_rng(0)
    sex = rng.choice(["m", "f"], 900)
    level = rng.integers(0, 3, 900)
    rows = pd.DataFrame(
        {
            "sex": sex,
            "code": np.array(["007", "010", "123"], dtype=object)[level],
            "price": np.array(["1.50", "2.0", "1e3"], dtype=object)[level],
            "big": np.array(["12345678901234567", "-5", " 3"], dtype=object)[level],
            "word": np.array(["one", "NA", "3"], dtype=object)[level],
        }
    )
    rows.to_csv("in.csv", index=False)
    command = ["sanitize", "in.csv", "-o", "o.csv", "--sensitive", "sex", "--epsilon", "3"]
    assert run(*command, "--cells", "3", *TYPICAL).status == 0
    released = pd.read_csv("o.csv", dtype=str, keep_default_na=False)
    # The cells are the three kinds of rows, and the budget is met without merging any.
    pd.testing.assert_frame_equal(released, rows.drop(columns="sex"), check_dtype=False)


def test_missing_numbers_are_written_as_missing(folder, run):
    ages = ["41"] * 250 + ["42"] * 50 + ["?"] * 300
    asked = ["yes"] * 300 + ["no"] * 300
    rows = pd.DataFrame({"sex": ["m", "f"] * 300, "age": ages, "asked": asked})
    rows.to_csv("in.csv", index=False)
    command = ["sanitize", "in.csv", "-o", "o.csv", "--sensitive", "sex", "--cells", "2"]
    assert run(*command, *TYPICAL, "--na-value", "?").status == 0
    released = pd.read_csv("o.csv", dtype=str, keep_default_na=False)
    assert list(released["age"]) == ["41"] * 300 + [""] * 300
    # A part without any number has the type of the others in a Parquet file.
    if importlib.util.find_spec("pyarrow"):
        rows.iloc[::-1].to_csv("back.csv", index=False)
        back = ["sanitize", "back.csv", "-o", "o.parquet", *command[4:], *TYPICAL]
        assert run(*back, "--na-value", "?", "--chunk-rows", "100").status == 0
        assert list(read("o.parquet")["age"].fillna("")) == [""] * 300 + ["41"] * 300
    # Otherwise the text is a value, and the column is not one of numbers.
    assert run(*command, *TYPICAL).status == 0
    assert list(pd.read_csv("o.csv", dtype=str)["age"]) == ["41"] * 300 + ["?"] * 300


@pytest.mark.parametrize(("one", "two"), [("csv", "parquet"), ("parquet", "csv"), ("csv", "csv")])
def test_another_file_may_be_learnt_from_and_counted(store, table, run_json, one, two):
    new = store(one, table.drop(columns="income").head(400), "new")
    command = ["sanitize", new, "-o", f"o.{one}", *CELLS, *TARGET, *TYPICAL]
    status, facts = run_json(*command, "--fit-on", store(two))
    assert status == 0
    assert facts["rows"] == 400
    sanitizer = SubsetMergingSanitizer("sex", epsilon=0.5, cells=8, output="typical")
    X = table.drop(columns="income")
    expected = sanitizer.fit(X, table["income"]).transform(X.head(400))
    pd.testing.assert_frame_equal(read(f"o.{one}"), expected, check_dtype=False)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_rows_can_be_shuffled_and_are_reported(store, run, suffix):
    path = store(suffix)
    command = ["sanitize", path, *CELLS, *TYPICAL, "--chunk-rows", "500", "--report", "r.html"]
    assert run(*command, "-o", f"o.{suffix}").status == 0
    assert run(*command, "-o", f"s.{suffix}", "--shuffle").status == 0
    plain, shuffled = read(f"o.{suffix}"), read(f"s.{suffix}")
    assert not plain.equals(shuffled)
    assert (
        plain.value_counts(dropna=False).to_dict() == shuffled.value_counts(dropna=False).to_dict()
    )
    with open("r.html", encoding="utf-8") as file:
        assert "The cells" in file.read()


# ---- what is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--useful COL is missing: name the columns to release, or use --cells N"),
        (["--cells", "1"], "--cells must be between 2 and 2,000, got 1."),
        (["--cells", "9999"], "--cells must be between 2 and 2,000, got 9999."),
        (["--cells", "8", "--mechanism", "oue"], "--cells is not an option of oue: remove it, or"),
        (["--cells", "8", "--mechanism", "srlip"], "--cells is not an option of srlip"),
        (["--cells", "8", "--order", "preserve"], "--order preserve is for values, but cells have"),
        (["--cells", "8", "--useful", "price"], "--useful price: in.csv has no such column"),
        (["--cells", "8", "--target", "sex"], "--target sex is also a --sensitive column"),
        (["--useful", "age", "--mechanism", "grr", *TARGET], "--target is not an option of grr"),
    ],
)
def test_what_cannot_be_is_refused(store, refused, options, message):
    assert message in refused("sanitize", store("csv"), "-o", "o.csv", *WHICH, *options)


def test_a_curve_of_cells_needs_mechanisms_that_have_them(store, refused):
    which = ["curve", store("csv"), "--sensitive", "sex", "--epsilons", "1"]
    assert "--useful COL is missing" in refused(*which)
    line = refused(*which, "--cells", "8", "--mechanism", "grr", "oue")
    assert "--cells is not an option of oue: remove it, or compare other mechanisms." in line
    assert "--useful COL is missing" in refused("explain", "in.csv", "--sensitive", "sex")


def test_audit_still_needs_useful_columns(store, refused):
    line = refused("audit", store("csv"), "--sensitive", "sex", "--epsilon", "1")
    assert "--useful" in line
    assert "unrecognized arguments: --cells" in refused(
        "audit", "in.csv", "--sensitive", "sex", "--useful", "age", "--epsilon", "1", "--cells", "8"
    )


def test_files_that_cells_cannot_be_learnt_from(store, table, refused):
    command = ["-o", "o.csv", *CELLS]
    few = store("csv", table.head(50), "few")
    assert "--cells 8 would be learnt from 50 rows" in refused("sanitize", few, *command)
    none = store("csv", table.head(0), "none")
    assert "none.csv has no rows" in refused("sanitize", none, *command)
    alone = store("csv", table[["sex"]], "alone")
    assert "alone.csv has no other columns to release" in refused("sanitize", alone, *command)
    lost = store("csv", table.assign(income=table["income"].where(table.index != 700)), "lost")
    line = refused("sanitize", lost, *command, *TARGET, "--chunk-rows", "100")
    assert "--target income: the value is missing in a row of lost.csv" in line


def test_text_in_a_column_of_numbers_is_refused(store, table, refused, monkeypatch):
    monkeypatch.setattr(_choice, "_MOST_ROWS", 500)
    place = next(i for i in range(3000) if i not in learning_rows(3000, apart=False))
    age = table["age"].astype(object)
    age[place] = "old"
    path = store("csv", table.assign(age=age))
    line = refused("sanitize", path, "-o", "o.csv", *CELLS)
    assert "in.csv: age is 'old' in a row, but the rows that cells were learnt from have" in line
    assert "use --na-value" in line


# ---- files that change


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("moment", ["count_rows", "write_release"])
def test_a_file_that_changes_between_passes_is_refused(
    store, table, folder, refused, monkeypatch, suffix, moment
):
    path = store(suffix)
    once = getattr(_sanitize, moment)

    def changed(*args, **kwargs):
        store(suffix, table.iloc[::-1].assign(age="x"))
        return once(*args, **kwargs)

    monkeypatch.setattr(_sanitize, moment, changed)
    line = refused("sanitize", path, "-o", "o.csv", *CELLS, "--report", "r.html")
    assert f"{path} changed while it was read" in line
    assert [found.name for found in folder.iterdir()] == [path]


# ---- comparing


@pytest.mark.slow
def test_explain_describes_cells(store, run, run_json, here):
    found = here()
    command = ["explain", store("csv"), *CELLS, "--time-limit", "1"]
    done = run(*command)
    assert done.status == 0
    made = "workclass, marital-status and income make 8 cells, the leaves of a tree that predicts "
    assert made + "the columns and the sensitive value, learnt from 3,000 rows." in done.out
    assert "pairs of a value and a cell never occur" in done.out
    assert "oue                       -      0.00   does not release cells" in done.out
    assert "With --confidence 0.95" in done.out
    assert {name for name, *_ in found.asked}.isdisjoint({"oue", "srlip"})
    done = run(*command, *TARGET, "--confidence", "0.9")
    assert "predicts income and the sensitive value, learnt from 1,000 other rows than" in done.out
    status, facts = run_json(*command, *TARGET, "--confidence", "0.9")
    assert status == 0
    assert facts["data"]["rows"] == 2000
    assert facts["data"]["useful_cells"]["n_rows"] == 1000
    trials = {trial["mechanism"]: trial for trial in facts["mechanisms"]}
    assert trials["orr"]["kept"] == trials["orr"]["utility_kept"] > trials["grr"]["kept"] > 0


def test_explain_needs_no_rows_apart_unless_asked(store, table, run, here):
    here()
    done = run("explain", store("csv", table.head(150)), *CELLS, "--useful", "age")
    assert done.status == 0
    assert "age makes" in done.out
    assert "Recommended" in done.out
    assert "--confidence" not in done.out


def test_a_curve_of_cells_is_that_of_python(store, table, run, run_json):
    which = ["curve", store("csv"), "--sensitive", "sex", "--epsilons", "0.3", "1", "--cells", "8"]
    command = [*which, "--mechanism", "subset-merging", *TARGET]
    done = run(*command)
    assert done.out.startswith("Share kept of what cells of 4 columns tell about income, while p")
    status, facts = run_json(*command)
    assert status == 0
    sanitizer = SubsetMergingSanitizer("sex", epsilon=0.3, cells=8)
    sanitizer.fit(table.drop(columns="income"), table["income"])
    assert facts["curve"][0]["nmi"] == pytest.approx(sanitizer.report_.nmi)
    assert 0 < facts["curve"][0]["target_kept"] < 1
    done = run(*which, "--useful", "age", "--mechanism", "grr")
    assert done.out.startswith("Share of cells of age kept (NMI) while protecting sex; 3,000 rows.")


def test_numbers_and_dates_that_are_text_are_told(store, table, run):
    rows = table.assign(
        age=table["age"].astype(object).where(table.index % 9 != 0, "?"),
        hired=(pd.Timestamp("2020-01-01") + pd.to_timedelta(table.index % 400, unit="D")).astype(
            str
        ),
    )
    command = ["sanitize", store("csv", rows), "-o", "out.csv", *CELLS]
    done = run(*command)
    errors = done.err
    assert done.status == 0
    assert errors.count("warning") == 2
    assert "age holds numbers, but also '?', so that all of its values are categories" in errors
    assert "use --na-value '?'" in errors
    assert "hired holds dates such as 2020-01-01, which are categories in a CSV file" in errors
    done = run(*command, "--na-value", "?", "--useful", "age", "--useful", "workclass")
    assert (done.status, done.err) == (0, "")
    pytest.importorskip("pyarrow")
    dated = table.assign(hired=pd.to_datetime(rows["hired"]))
    done = run("sanitize", store("parquet", dated), "-o", "out.parquet", *CELLS)
    assert (done.status, done.err) == (0, "")
