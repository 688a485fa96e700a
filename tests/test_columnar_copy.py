"""Judgments from columns and from the copy beside them: the table, the warnings and the errors of the records."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_judgments import RUBRICS_A_TASK, loading, write_study

from lifesearch_kit import columnar_copy
from lifesearch_kit.columnar_copy import read_judgments_frame
from lifesearch_kit.errors import InputError
from lifesearch_kit.files import read_judgments, write_jsonl
from lifesearch_kit.frames import judgments_frame
from lifesearch_kit.judgment_columns import SCHEMA
from lifesearch_kit.records import Judgment
from lifesearch_kit.results import load_results

PLAIN: dict[str, Any] = {
    **{"system": "walker", "task_id": "port-en", "run": 1, "rubric_id": "R1", "judge": "J", "repeat": 1},
    **{"satisfied": True, "status": "ok", "reason": "It says 14 berths.", "raw": "{}", "finish_reason": "stop"},
    **{"model": "judge-1", "input_tokens": 9, "output_tokens": 2, "seconds": 0.5, "fingerprint": "f", "notes": []},
}


@pytest.fixture
def every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies of small files too."""
    monkeypatch.setattr(columnar_copy, "SMALLEST_BYTES", 0)


def by_records(path: Path) -> pd.DataFrame:
    return judgments_frame(read_judgments(path))


def told(read: Any, path: Path) -> tuple[pd.DataFrame | tuple[str, ...], list[str]]:
    """What a way of reading gives, or its faults; and what it warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = read(path)
        except InputError as error:
            result = error.faults
    # What another test left open is told whenever it is collected, and by neither way of reading.
    return result, [str(one.message) for one in caught if one.category is not ResourceWarning]


def assert_same(path: Path) -> None:
    (expected, expected_words), (found, words) = told(by_records, path), told(read_judgments_frame, path)
    assert words == expected_words
    if isinstance(expected, pd.DataFrame):
        assert isinstance(found, pd.DataFrame)
        pd.testing.assert_frame_equal(found, expected, check_exact=True, check_column_type="exact")
        for name in ("finish_reason", "cached_tokens", "cost", "notes"):
            assert [type(one) for one in found[name]] == [type(one) for one in expected[name]]
    else:
        assert found == expected


def written(folder: Path, *changes: dict[str, Any]) -> Path:
    """A file of the plain judgment, changed in so many ways; rubrics are numbered."""
    lines = [json.dumps(PLAIN | {"rubric_id": f"R{n}"} | one) + "\n" for n, one in enumerate(changes, start=1)]
    path = folder / "judgments.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def copy_of(path: Path) -> Path:
    return path.with_name("judgments.jsonl.arrow")


def forbid_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columnar_copy, "column_batches", lambda *_: pytest.fail("the lines were read again"))


words = st.text(st.characters(codec="utf-8"), max_size=8)
names = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=4)
counts = st.none() | st.integers(0, 9) | st.sampled_from([2**53 + 1, 2**63 - 1])
amounts = st.none() | st.floats(0, allow_infinity=False, allow_nan=False)
verdicts = st.sampled_from([(True, "ok"), (False, "ok"), (None, "truncated"), (None, "error")])


@st.composite
def judgment_lists(draw: st.DrawFn) -> list[Judgment]:
    """Judgments of which some columns are empty in every row, others in some, as those of vendors are."""
    empty = draw(st.sets(st.sampled_from(["finish_reason", "cached_tokens", "cost", "seconds", "model"])))
    rows = []
    for number in range(draw(st.integers(0, 6))):
        satisfied, status = draw(verdicts)
        values = {
            **{name: draw(names) for name in ("system", "task_id", "judge")},
            **{name: draw(words) for name in ("reason", "raw", "fingerprint")},
            **{name: draw(st.none() | words) for name in ("finish_reason", "model")},
            **{f"{name}_tokens": draw(counts) for name in ("input", "cached", "output", "reasoning")},
            **{name: draw(amounts) for name in ("seconds", "cost")},
            "notes": tuple(draw(st.lists(words, max_size=2))),
        }
        values |= dict.fromkeys(empty)
        rows.append(Judgment(run=number + 1, rubric_id="R1", satisfied=satisfied, status=status, **values))
    return rows


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(judgments=judgment_lists())
def test_the_table_is_that_of_the_records_with_and_without_a_copy(
    judgments: list[Judgment], tmp_path: Path, every_size: None
) -> None:
    path = tmp_path / "judgments.jsonl"
    write_jsonl(path, judgments)
    copy_of(path).unlink(missing_ok=True)
    for _ in ("first", "from the copy"):
        assert_same(path)
        assert copy_of(path).exists()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columnar_copy, "SMALLEST_BYTES", 10**9)
        assert_same(path)


def test_every_field_of_a_judgment_is_a_column() -> None:
    assert list(Judgment.model_fields) == SCHEMA.names


ODD_LINES = {
    "a field twice": b'{"run": 1, "run": 2, ',
    "a field twice, escaped": b'{"run": 1, "r\\u0075n": 2, ',
    "a field twice, blanks before the colons": b'{"run" : 1, "run"\t : 1, ',
    "blanks before colons": b'{"run" : 2, ',
    "an escaped field": b'{"r\\u0075n": 2, ',
    "a field that ends in a backslash": b'{"run\\\\": 2, ',
    "an unknown field": b'{"runs": 2, ',
    "a nested field": b'{"notes": {"system": "x"}, ',
    "a fraction": b'{"run": 1.0, ',
    "an exponent": b'{"run": 1e0, ',
    "a flag for a number": b'{"run": true, ',
    "a text for a number": b'{"run": "1", ',
    "run 0": b'{"run": 0, ',
    "a minus": b'{"input_tokens": -1, ',
    "minus 0": b'{"input_tokens": -0, ',
    "a large number": b'{"input_tokens": 99999999999999999999, ',
    "a whole number of seconds": b'{"cost": 3, ',
    "a precise number": b'{"cost": 0.1000000000000000055511151231257827, ',
    "an endless number": b'{"cost": 1e999, ',
    "no number": b'{"cost": NaN, ',
    "a number with a plus": b'{"cost": +1, ',
    "a name that is a number": b'{"model": 5, ',
    "a number note": b'{"notes": [1], ',
    "notes that hold a colon": b'{"notes": ["a\\": b", "c\\\\"], ',
    "no list of notes": b'{"notes": "x", ',
    "an emoji": b'{"model": "\\ud83d\\ude00", ',
    "half a character": b'{"model": "\\ud83d", ',
    "half a character as bytes": b'{"model": "\xed\xa0\x80", ',
    "no UTF-8": b'{"model": "\xff", ',
    "a line's end within a text": b'{"model": "a\nb", ',
    "a tabulator within a text": b'{"model": "a\tb", ',
    "a zero within a text": b'{"model": "a\x00b", ',
    "another mark of a line's end": b'{"model": "a\xe2\x80\xa8b", ',
    "a mark before the line": b'\xef\xbb\xbf{"model": "x", ',
    "a form feed before the line": b'\x0c{"model": "x", ',
    "blanks around": b' \t{"model": "x", ',
    "a line with blanks alone": b' \t \r\n{"model": "x", ',
    "a line with a form feed alone": b'\x0c\n{"model": "x", ',
    "a remark": b'/* x */ {"model": "x", ',
    "two objects on a line": b'{} {"model": "x", ',
    "a list": b'[]\n{"model": "x", ',
    "deep nesting": b'{"notes": ' + b"[" * 3000 + b"]" * 3000 + b", ",
    "a comma too many": b'{"model": "x",, ',
}
ODD_NAMES = [
    "",
    " ",
    "\u200b",
    " walker",
    "wal\u200bker",
    "walker\u3000x",
    "walker ",
    "\ufeffwalker",
    7,
    1.5,
    None,
    2**70,
]


@pytest.mark.parametrize("odd", ODD_LINES.values(), ids=list(ODD_LINES))
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_an_odd_line_is_read_or_refused_as_ever(
    odd: bytes, first: bool, end: bytes, tmp_path: Path, every_size: None
) -> None:
    taken = {"run", "notes", "model", "input_tokens", "output_tokens"}
    rest = json.dumps({name: value for name, value in PLAIN.items() if name not in taken}).encode()[1:]
    plain = json.dumps(PLAIN | {"rubric_id": "R2"}).encode()
    path = tmp_path / "judgments.jsonl"
    path.write_bytes(b"\n".join([odd + rest, plain] if first else [plain, odd + rest]) + end)
    for _ in ("first", "second"):
        assert_same(path)


@pytest.mark.parametrize("name", ODD_NAMES, ids=ascii)
def test_an_odd_name_is_read_or_refused_as_ever(name: Any, tmp_path: Path, every_size: None) -> None:
    path = written(tmp_path, {}, {"system": name}, {"rubric_id": name})
    for _ in ("first", "second"):
        assert_same(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(data=st.data())
def test_a_file_with_changed_bytes_is_read_or_refused_as_ever(
    data: st.DataObject, tmp_path: Path, every_size: None
) -> None:
    content = written(tmp_path, {"notes": ['a: "b": c']}, {"raw": '判断：{"x": 1}'}, {}).read_bytes()
    start = data.draw(st.integers(0, len(content)))
    stop = data.draw(st.integers(start, min(start + 3, len(content))))
    put = data.draw(st.binary(max_size=2) | st.sampled_from([bytes([one]) for one in b' \t\r\n\\":,{}[]01eE.-tfn']))
    path = tmp_path / "judgments.jsonl"
    path.write_bytes(content[:start] + put + content[stop:])
    copy_of(path).unlink(missing_ok=True)
    assert_same(path)


def test_a_copy_is_used_as_long_as_nothing_changed(
    tmp_path: Path, every_size: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, {}, {"notes": ['asked: "x": 1', ": 2"]}, {"reason": ": 3", "raw": '{"x\\\\": 1, "y" : 2}'})
    expected = read_judgments_frame(path)
    os.utime(path, (1, 1))
    forbid_reading(monkeypatch)
    pd.testing.assert_frame_equal(read_judgments_frame(path), expected)


def test_an_edit_of_the_same_length_and_time_is_seen(tmp_path: Path, every_size: None) -> None:
    path = written(tmp_path, {"satisfied": None, "status": "refused"}, {"reason": "It says 14 berths."})
    read_judgments_frame(path)
    before = path.stat()
    with path.open("r+b") as file:
        content = file.read().replace(b"14 berths", b"15 berths")
        file.seek(0)
        file.write(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (before.st_size, before.st_mtime_ns, before.st_ino)
    assert read_judgments_frame(path)["reason"][1] == "It says 15 berths."


@pytest.mark.parametrize("damage", ["a bit", "cut off", "empty", "longer", "another version", "something else"])
def test_a_copy_that_is_not_whole_is_written_anew(
    damage: str, tmp_path: Path, every_size: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, {}, {"satisfied": False})
    expected = read_judgments_frame(path)
    whole = copy_of(path).read_bytes()
    damaged = {"cut off": whole[:-1], "empty": b"", "longer": whole + b"\0", "something else": b"PAR1" * 500}
    for place in range(0, len(whole), 29) if damage == "a bit" else [0]:
        flipped = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
        copy_of(path).unlink()
        copy_of(path).write_bytes({**damaged, "a bit": flipped}.get(damage, whole))
        with monkeypatch.context() as patch:
            if damage == "another version":
                patch.setattr(columnar_copy, "_VERSION", b"0")
            pd.testing.assert_frame_equal(read_judgments_frame(path), expected)
            rewritten = copy_of(path).read_bytes()
            assert (rewritten == whole) == (damage != "another version")
            forbid_reading(patch)
            read_judgments_frame(path)


@pytest.mark.skipif(os.name != "posix", reason="elsewhere nothing can be written into a mapped file")
def test_nothing_is_written_into_a_copy_that_may_be_mapped(tmp_path: Path, every_size: None) -> None:
    path = written(tmp_path, {})
    read_judgments_frame(path)
    mode = copy_of(path).stat().st_mode & 0o777
    assert mode == path.stat().st_mode & 0o777 & ~0o222
    path.write_text(path.read_text(encoding="utf-8").replace("R1", "R2"), encoding="utf-8")
    assert read_judgments_frame(path)["rubric_id"].tolist() == ["R2"]


@pytest.mark.parametrize("fault", [{"satisfied": None}, {"rubric_id": "R1"}, {"system": " walker"}])
def test_a_file_with_a_fault_or_a_reading_leaves_no_copy(
    fault: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, {}, fault)
    for size in (10**9, 0, 0):
        monkeypatch.setattr(columnar_copy, "SMALLEST_BYTES", size)
        assert_same(path)
        assert list(tmp_path.iterdir()) == [path]


def test_a_small_file_leaves_its_folder_as_it_is(tmp_path: Path) -> None:
    path = written(tmp_path, {})
    read_judgments_frame(path)
    assert list(tmp_path.iterdir()) == [path]


def test_where_no_copy_can_be_written_the_table_is_the_same_and_that_is_said(tmp_path: Path, every_size: None) -> None:
    path = written(tmp_path, {}, {"satisfied": False})
    copy_of(path).mkdir()  # nothing can take the place of a folder, whatever the user's rights
    with pytest.warns(UserWarning, match=r"judgments\.jsonl\.arrow: cannot be kept \(Is a directory\)") as caught:
        frame = load_results(tmp_path).require("judgments")
    assert [one.filename for one in caught] == [__file__]
    pd.testing.assert_frame_equal(frame, by_records(path))
    assert sorted(one.name for one in tmp_path.iterdir()) == ["judgments.jsonl", "judgments.jsonl.arrow"]


def test_what_a_killed_process_left_is_removed_and_what_another_writes_is_not(tmp_path: Path, every_size: None) -> None:
    path = written(tmp_path, {})
    left, under_way = (tmp_path / f"judgments.jsonl.arrow.{name}.part" for name in ("left", "under-way"))
    for one in (left, under_way):
        one.write_bytes(b"half")
    os.utime(left, (time.time() - 7200,) * 2)
    read_judgments_frame(path)
    assert (left.exists(), under_way.exists(), copy_of(path).exists()) == (False, True, True)


def test_several_processes_at_once_read_the_same(tmp_path: Path) -> None:
    write_study(tmp_path, systems=2, runs=1, tasks=100)
    program = (
        "import sys; from lifesearch_kit import columnar_copy; columnar_copy.SMALLEST_BYTES = 0\n"
        "from pathlib import Path; path = Path(sys.argv[1], 'judgments.jsonl')\n"
        "for _ in range(8):\n"
        "    frame = columnar_copy.read_judgments_frame(path)\n"
        "    Path(f'{path}.arrow').unlink(missing_ok=True)\n"
        "    print(len(frame), int(frame['satisfied'].sum()), hash(tuple(frame['seconds'])))"
    )
    started = [
        subprocess.Popen([sys.executable, "-W", "error", "-c", program, tmp_path], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    said = [one.communicate()[0].splitlines() for one in started]
    assert [one.returncode for one in started] == [0, 0, 0]
    assert {line for lines in said for line in lines} == {said[0][0]}
    assert said[0][0].split()[0] == str(2 * 100 * RUBRICS_A_TASK)
    assert not list(tmp_path.glob("*.part"))


def test_a_table_can_be_changed_and_its_copy_is_not(tmp_path: Path, every_size: None) -> None:
    path = written(tmp_path, {"cached_tokens": 1}, {"notes": ["x"]})
    before = by_records(path)
    for _ in ("first", "from the copy"):
        frame = read_judgments_frame(path)
        for name in frame:
            frame.loc[0, name] = frame.loc[1, name]
        frame["cost"] = 2.0
        assert frame.loc[0, "rubric_id"] == "R2"
    pd.testing.assert_frame_equal(read_judgments_frame(path), before)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the most memory held is read from /proc")
def test_one_and_a_half_million_judgments_load_within_three_seconds_and_a_gigabyte(tmp_path: Path) -> None:
    write_study(tmp_path, systems=25, runs=5, tasks=600)
    first, again = loading(tmp_path), loading(tmp_path)
    assert first.judgments == again.judgments == 25 * 5 * 600 * RUBRICS_A_TASK == 1_500_000
    assert first.peak_bytes < 1e9
    assert again.peak_bytes < 1e9
    assert again.cpu_seconds < 3
