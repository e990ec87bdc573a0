"""Ids have one form in all kinds of tables, and the bits that depend on them are SipHash."""

from decimal import Decimal
from uuid import UUID

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skliftpriv.exceptions import InvalidParameterError
from skliftpriv.frames import RecordIds, _records, record_bits

MASK = (1 << 64) - 1


def ids_of(column):
    if not isinstance(column, np.ndarray):
        column = nw.from_native(column, series_only=True)
    return [one for _, part in RecordIds(column, "record_id='id'").parts() for one in part]


def siphash(key, message):
    """SipHash-2-4 as Aumasson and Bernstein (2012) define it."""
    k0, k1 = (int.from_bytes(key[i : i + 8], "little") for i in (0, 8))
    v = [
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    ]

    def turned(value, by):
        return ((value << by) | (value >> (64 - by))) & MASK

    def rounds(n):
        for _ in range(n):
            v[0] = (v[0] + v[1]) & MASK
            v[1] = turned(v[1], 13) ^ v[0]
            v[0] = turned(v[0], 32)
            v[2] = (v[2] + v[3]) & MASK
            v[3] = turned(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & MASK
            v[3] = turned(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & MASK
            v[1] = turned(v[1], 17) ^ v[2]
            v[2] = turned(v[2], 32)

    padded = message + bytes(7 - len(message) % 8) + bytes([len(message) & 255])
    for i in range(0, len(padded), 8):
        word = int.from_bytes(padded[i : i + 8], "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 255
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def mixed(value):
    """The mixing of bits that pandas adds, which maps 64 bits one to one."""
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)


def test_the_reference_meets_the_published_test_vector():
    assert siphash(bytes(range(16)), bytes(range(15))) == 0xA129CA6149BE45E5


@settings(max_examples=50, deadline=None)
@given(
    st.binary(min_size=16, max_size=16),
    st.lists(
        st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=5, unique=True
    ),
    st.data(),
)
def test_bits_are_siphash_of_the_input_and_the_id(key, ids, data):
    codes = np.array([data.draw(st.integers(-1, 6)) for _ in ids], dtype=np.intp)
    column = np.array([*ids, None], dtype=object)[:-1]
    found = record_bits(RecordIds(column, "id"), codes, key, "x")
    expected = [
        mixed(siphash(key, int(code).to_bytes(8, "little", signed=True) + one.encode()))
        for code, one in zip(codes, ids, strict=True)
    ]
    assert found.tolist() == expected


def test_a_version_of_pandas_with_other_hashes_is_refused(monkeypatch):
    monkeypatch.setattr(_records, "_siphash", lambda messages, key: np.zeros(len(messages)))
    with pytest.raises(RuntimeError, match="computes other hashes"):
        record_bits(RecordIds(np.arange(3), "id"), np.zeros(3, dtype=int), b"k" * 16, "x")


def test_whole_numbers_are_the_same_ids_in_all_types_and_tables():
    numbers = [7, 0, -12, 2**53 - 1]
    expected = [b"7", b"0", b"-12", b"9007199254740991"]
    columns = [
        np.array(numbers),
        np.array(numbers, dtype=float),
        np.array(numbers, dtype=object),
        np.array([np.int64(7), 0.0, Decimal(-12), "9007199254740991"], dtype=object),
        np.array([str(n) for n in numbers]),
        np.array([str(n).encode() for n in numbers]),
        pd.Series(numbers),
        pd.Series(numbers, dtype="Int64"),
        pd.Series(numbers, dtype=float),
        pd.Series(numbers).astype(str),
        pd.Series(numbers, dtype="category"),
        pd.Series(numbers, dtype="int64[pyarrow]"),
        pl.Series(numbers),
        pl.Series(numbers, dtype=pl.Float64),
        pl.Series([str(n) for n in numbers]),
        pl.Series([str(n) for n in numbers], dtype=pl.Categorical),
        pl.Series([Decimal(n) for n in numbers]),
        pa.chunked_array([numbers]),
        pa.chunked_array([[str(n) for n in numbers]]),
        pa.chunked_array([[str(n) for n in numbers]]).dictionary_encode(),
        pa.chunked_array([[str(n).encode() for n in numbers]]),
        pa.chunked_array([pa.array([Decimal(n) for n in numbers])]),
    ]
    for column in columns:
        assert ids_of(column) == expected, column


def test_text_stays_as_it_is():
    texts = ["1.0", "01", " 1", "é", "e\u0301", "a\0b", "nan"]
    for column in (pd.Series(texts), pl.Series(texts), pa.chunked_array([texts])):
        assert ids_of(column) == [text.encode() for text in texts]
    unique = UUID("12345678-1234-5678-1234-567812345678")
    assert ids_of(np.array([unique, b"\xff\0"], dtype=object)) == [str(unique).encode(), b"\xff\0"]
    assert ids_of(np.array([2**63, 2**64 - 1], dtype=np.uint64))[1] == b"18446744073709551615"
    assert ids_of(np.array([-0.0, 0.0, 2.0**53 - 1])) == [b"0", b"0", b"9007199254740991"]
    assert ids_of(np.array([-0.0, 0, Decimal("-0"), "-0"], dtype=object)) == [b"0"] * 3 + [b"-0"]
    assert ids_of(np.array([10**3000], dtype=object)) == [b"1" + b"0" * 3000]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, None, 3]),
        pd.Series(["a", None, "c"]),
        pd.Series([1, None, 3], dtype="Int64"),
        pd.Series(["a", "", "c"]),
        pl.Series([1, None, 3]),
        pl.Series([1.0, float("nan"), 3.0]),
        pl.Series(["a", None, "c"]),
        pa.chunked_array([["a", None, "c"]]),
        np.array([1.0, np.nan, 3.0]),
        np.array(["a", None, "c"], dtype=object),
        np.array([1, pd.NA, 3], dtype=object),
        np.array([1, float("nan"), 3], dtype=object),
        np.array(["a", Decimal("nan"), "c"], dtype=object),
        np.array([UUID(int=1), pd.NaT, 3], dtype=object),
    ],
)
def test_a_missing_id_is_refused(column):
    with pytest.raises(InvalidParameterError, match="record_id='id': row 1 has no id"):
        ids_of(column)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (np.array([1.0, 2.5]), r"2\.5 of type float"),
        (np.array([1.0, np.inf]), "inf of type float"),
        (np.array([1.0, 2.0**60]), "of type float"),
        # Several whole numbers have these forms, and would be one record.
        (np.array([1.0, 2.0**53]), "of type float"),
        (np.array([1, 2**24 + 1], dtype=np.float32), r"16777216\.0 of type float32"),
        (np.array([1, 2**11 + 1], dtype=np.float16), r"2048\.0 of type float16"),
        (np.array(["a", np.float32(2**24)], dtype=object), "of type float32"),
        (pl.Series([1, 2**24 + 1], dtype=pl.Float32), "of type float32"),
        # Numbers that cannot be written out.
        (np.array(["a", Decimal("1E+999999999")], dtype=object), r"1E\+999999999"),
        (np.array(["a", 10**3600], dtype=object), "whole numbers of at most 3,600 digits"),
        (np.array(["a", Decimal(10**3600)], dtype=object), "at most 3,600 digits"),
        (np.array(["a", 10**5000], dtype=object), "with more than 3,600 digits of type int"),
        (np.array(["a", 1 + 0j], dtype=object), "of type complex"),
        (np.array(["a", 1.5], dtype=object), r"1\.5 of type float"),
        (np.array(["a", Decimal("0.5")], dtype=object), "of type Decimal"),
        (np.array(["a", True], dtype=object), "True of type bool"),
        (np.array(["a", ["list"]], dtype=object), "of type list"),
        (np.array(["a", "\ud800"], dtype=object), "ud800"),
        (pd.Series([1, 2]) > 1, "of type bool"),
        (pd.Series(pd.to_datetime(["2020-01-01", "2021-01-01"])), "of type Timestamp"),
        (np.array(["2020", "2021"], dtype="M8[ns]"), "datetime64"),
        (pl.Series([[1], [2]]), "of type list"),
    ],
)
def test_what_is_no_id_is_refused_with_row_and_value(column, value):
    with pytest.raises(InvalidParameterError, match=value):
        ids_of(column)


def test_rows_are_numbered_from_the_first_row_of_all_parts():
    ids = RecordIds(np.array(["a", "b", "a"]), "record_id='id'", first_row=2000)
    with pytest.raises(InvalidParameterError, match=r"of 'a' differ in x \(rows 2,000 and 2,002\)"):
        ids.check_alike(np.array([0, 1, 1]), "x")
    ids.check_alike(np.array([0, 1, 0]), "x")
    assert ids.first_rows.tolist() == [0, 1]


def test_chunks_do_not_matter(monkeypatch):
    column, codes = np.arange(1000), np.arange(1000) % 3

    def bits():
        return record_bits(RecordIds(column, "id"), codes, b"k" * 16, "x")

    whole = bits()
    monkeypatch.setattr(_records, "_CHUNK", 17)
    assert (bits() == whole).all()
