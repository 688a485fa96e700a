"""Which models a profile wants from this machine, and which ones a server offers."""

from __future__ import annotations

from collections.abc import Sequence

import httpx

from lifesearch_kit.errors import InputError
from lifesearch_kit.local.server import LocalServerError
from lifesearch_kit.profiles import Profile
from lifesearch_kit.settings import LOCAL

_ENTRIES = ("systems", "judges", "candidates")


def local_models(profile: Profile) -> list[str]:
    """Names of the models that a profile wants from this machine.

    Raises
    ------
    InputError
        When it wants none.
    """
    entries = [
        entry
        for values in profile.parameters.values()
        for key in _ENTRIES
        for entry in values.get(key, ())
        if isinstance(entry, dict) and entry.get("base_url") == LOCAL
    ]
    if not entries:
        raise InputError(
            f"{profile.path}: no entry of {', '.join(_ENTRIES)} has base_url: {LOCAL}, so it needs no model on this "
            f"machine; run it with make figures PROFILE={profile.path}"
        )
    return list(dict.fromkeys(str(entry.get("model")) for entry in entries))


def require_models(profile: Profile, wanted: Sequence[str], offered: Sequence[str], server: str) -> None:
    """Raise InputError unless the server offers each model that the profile wants."""
    if set(wanted) <= set(offered):
        return
    raise InputError(
        f"{profile.path}: wants {', '.join(wanted)} from this machine, but {server} offers "
        f"{', '.join(offered) or 'no model'}; write that name as 'model' in each entry with base_url: {LOCAL}, "
        "or name the file or the server that has the model with --model or --server"
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
