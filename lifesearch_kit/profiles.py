"""Profiles: flat YAML files that name notebooks and give their parameters."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import nbformat
import papermill
import yaml

from lifesearch_kit.errors import InputError
from lifesearch_kit.paths import NOTEBOOKS, plain_name, resolve

_TYPE_WORDS = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a mapping",
}


@dataclass(frozen=True)
class Profile:
    """What one call of the batch does.

    Attributes
    ----------
    name
        Folder under figures/ that the results go to: the profile's own key ``profile``, else the file's stem.
    parameters
        Per notebook, in the order in which they run, the parameters that it declares and the profile gives.
    """

    path: Path
    name: str
    parameters: Mapping[Path, Mapping[str, Any]]


class _UniqueKeyLoader(yaml.SafeLoader):
    """A key that is given twice is a fault; plain YAML silently keeps the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.MarkedYAMLError(problem=f"key {key!r} is given twice", problem_mark=key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


def declared_parameters(notebook: Path) -> dict[str, Any]:
    """Names of a notebook's parameters and their defaults.

    Returns
    -------
    dict
        The default's value, or None where it is no literal (any type is then accepted).
    """
    found: dict[str, Any] = {}
    for name, parameter in papermill.inspect_notebook(notebook).items():
        try:
            found[name] = ast.literal_eval(str(parameter["default"]))
        except (ValueError, SyntaxError):
            found[name] = None
    return found


def folders_made(notebook: Path) -> list[str]:
    """The parameters of a notebook that name folders which it fills, by its metadata."""
    return list(nbformat.read(notebook, as_version=4).metadata.get("lifesearch_kit", {}).get("makes", []))


def read_profile(path: Path, notebooks: Path = NOTEBOOKS) -> Profile:
    """Read a profile and check it against the notebooks that it names, before anything runs.

    Parameters
    ----------
    path
        The YAML file. Its key ``notebooks`` lists names of notebooks; every other key is a parameter of theirs.
    notebooks
        Folder of the notebooks. A name with a separator is a path from the checkout's root instead.

    Raises
    ------
    InputError
        With all faults at once: an unknown notebook, a key that no notebook declares, a value of another type
        than the declared default.
    """
    content = _load(path)
    names = content.pop("notebooks", None)
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise InputError(
            f"{path}: key 'notebooks' must be a list of at least one notebook, e.g. notebooks: [05_main_results]"
        )
    faults: list[str] = []
    chosen = [found for name in dict.fromkeys(names) if (found := _find(name, notebooks, path, faults))]
    declared = {notebook: declared_parameters(notebook) for notebook in chosen}
    faults += _key_faults(path, content, declared) if len(chosen) == len(dict.fromkeys(names)) else []
    faults += _type_faults(path, content, declared)
    if faults:
        raise InputError(faults)
    name = plain_name(str(content.get("profile", path.stem)), f"{path}: profile")
    values = {**content, "profile": name}
    return Profile(
        path, name, {book: {key: values[key] for key in keys if key in values} for book, keys in declared.items()}
    )


def _load(path: Path) -> dict[str, Any]:
    if not path.is_file():
        near = difflib.get_close_matches(path.name, [one.name for one in path.parent.glob("*.y*ml")], 1)
        raise InputError(f"{path}: no such profile" + (f"; did you mean {path.parent / near[0]}?" if near else ""))
    try:
        content = yaml.load(path.read_text(encoding="utf-8-sig"), _UniqueKeyLoader)
    except (yaml.YAMLError, UnicodeDecodeError) as fault:
        raise InputError(f"{path}: cannot be read as YAML: {fault}") from None
    if not isinstance(content, dict):
        raise InputError(f"{path}: a profile is a mapping of keys to values, as in params/demo.yaml")
    odd = [key for key in content if not isinstance(key, str) or not key.isidentifier()]
    if odd:
        raise InputError([f"{path}: key {key!r} cannot be a notebook's parameter; use a plain name" for key in odd])
    return content


def _find(name: str, folder: Path, path: Path, faults: list[str]) -> Path | None:
    place = resolve(name) if "/" in name else folder / name
    found = place if place.suffix == ".ipynb" else place.with_name(place.name + ".ipynb")
    if found.is_file():
        return found
    known = [one.stem for one in folder.glob("*.ipynb")]
    faults.append(f"{path}: no notebook {name!r} in {folder}{_nearest(name, known)}")
    return None


def _nearest(word: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(sorted(known)) or 'none'}"


def _key_faults(path: Path, content: Mapping[str, Any], declared: Mapping[Path, Mapping[str, Any]]) -> list[str]:
    known = {"profile", *(name for parameters in declared.values() for name in parameters)}
    return [
        f"{path}: key {key!r} is declared by none of the profile's notebooks{_nearest(key, known | {'notebooks'})}"
        for key in content
        if key not in known
    ]


def _type_faults(path: Path, content: Mapping[str, Any], declared: Mapping[Path, Mapping[str, Any]]) -> list[str]:
    faults: dict[str, str] = {}
    for notebook, parameters in declared.items():
        for key in content.keys() & parameters.keys():
            value, default = content[key], parameters[key]
            if default is None or type(value) is type(default) or (type(value), type(default)) == (int, float):
                continue
            wanted = _TYPE_WORDS.get(type(default), type(default).__name__)
            got = _TYPE_WORDS.get(type(value), type(value).__name__)
            quoted = "; put it in quotes" if isinstance(value, date) else ""
            faults.setdefault(
                key,
                f"{path}: key {key!r} is {value!r} ({got}), but notebook {notebook.stem} wants {wanted} "
                f"(its default is {default!r}){quoted}",
            )
    return [faults[key] for key in content if key in faults]
