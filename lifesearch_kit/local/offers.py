"""Which models a profile wants from this machine, and which ones a server offers."""

from __future__ import annotations

from collections.abc import Sequence

import httpx

from lifesearch_kit.endpoint_addresses import LOCAL
from lifesearch_kit.errors import InputError
from lifesearch_kit.local.server import LocalServerError
from lifesearch_kit.profiles import Profile
from lifesearch_kit.settings import JudgeSettings, ModelSettings, SystemSettings, parse_settings

_ENTRIES: dict[str, type[ModelSettings]] = {
    "systems": SystemSettings,
    "judges": JudgeSettings,
    "candidates": JudgeSettings,
}


def local_models(profile: Profile) -> list[str]:
    """Names of the models that a profile wants from this machine.

    Raises
    ------
    InputError
        When it wants none, or when an entry has a wrong field.
    """
    # Several notebooks declare one parameter; its value is the profile's.
    given = {key: values[key] for values in profile.parameters.values() for key in _ENTRIES if key in values}
    faults: list[str] = []
    wanted: list[str] = []
    for key, entries in given.items():
        try:
            wanted += [one.model for one in parse_settings(entries, _ENTRIES[key]) if one.is_local]
        except InputError as error:
            faults += [f"{profile.path}: {key}: {fault}" for fault in error.faults]
    if faults:
        raise InputError(faults)
    if not wanted:
        raise InputError(
            f"{profile.path}: no entry of {', '.join(_ENTRIES)} has base_url: {LOCAL}, so it needs no model on this "
            f"machine; run it with make figures PROFILE={profile.path}"
        )
    return list(dict.fromkeys(wanted))


def require_models(profile: Profile, wanted: Sequence[str], offered: Sequence[str], server: str) -> None:
    """Raise InputError unless the server offers each model that the profile wants."""
    if set(wanted) <= set(offered):
        return
    raise InputError(
        f"{profile.path}: wants {', '.join(wanted)} from this machine, but {server} offers "
        f"{', '.join(offered) or 'no model'}; in a copy of the profile write that name as 'model' in each entry with "
        f"base_url: {LOCAL}, and change 'name', 'profile', 'results' and 'judge_results' too, which keeps two models' "
        "results apart; or name the file or the server that has the model with --model or --server"
    )


def offered_models(address: str) -> list[str]:
    """Names of the models that a server offers.

    Parameters
    ----------
    address
        Its base address, which mostly ends in ``/v1``.

    Raises
    ------
    LocalServerError
        When nothing answers there, or not as an OpenAI-compatible server does.
    """
    try:
        reply = httpx.get(f"{address}/models", timeout=30, trust_env=False).raise_for_status()
        return [str(entry["id"]) for entry in reply.json()["data"]]
    except httpx.HTTPStatusError as error:
        status = error.response.status_code
        remedy = (
            "a server that asks for a key belongs in base_url with api_key_env"
            if status in (401, 403)
            else "correct its address (it mostly ends in /v1)"
        )
        raise LocalServerError(f"{address}/models: answered HTTP {status}; {remedy}") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        said = str(error).partition("\n")[0] or type(error).__name__
        raise LocalServerError(
            f"{address}/models: no answer ({said}); start the server or correct its address (it mostly ends in /v1)"
        ) from None
    except (ValueError, KeyError, TypeError):
        raise LocalServerError(
            f"{address}/models: the answer is no list of models; give the address of an OpenAI-compatible server "
            "(it mostly ends in /v1)"
        ) from None
