"""What `base_url` may say: an endpoint's address, ``offline``, or ``local`` for a server on this machine."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator

from lifesearch_kit.errors import InputError

OFFLINE = "offline"
LOCAL = "local"
LOCAL_ADDRESS = "LOCAL_MODEL_URL"


def _as_address(value: Any) -> Any:
    if not isinstance(value, str) or value in (OFFLINE, LOCAL):
        return value
    if "@" in value.partition("://")[2].partition("/")[0]:
        raise ValueError("an address may hold no user name or password; put the key into an environment variable")
    if not value.startswith(("http://", "https://")):
        near = difflib.get_close_matches(value.strip().lower(), (OFFLINE, LOCAL), n=1)
        raise ValueError(
            f"does not start with http:// or https://, and is neither {OFFLINE} nor {LOCAL}; "
            + (f"did you mean {near[0]!r}?" if near else "write the whole address")
        )
    return value


Address = Annotated[str, BeforeValidator(_as_address)]


def local_address(names: Sequence[str]) -> str:
    """The address of the server on this machine, as the environment holds it.

    Parameters
    ----------
    names
        The configurations that need it.

    Raises
    ------
    InputError
        When the variable is not set, or holds no address.
    """
    address = os.environ.get(LOCAL_ADDRESS, "").strip()
    if address.startswith(("http://", "https://")):
        return address
    # What is there instead may be a key, so it is not shown.
    wrong = f"{LOCAL_ADDRESS} {'does not start with http:// or https://' if address else 'is not set'}"
    raise InputError(
        f"{', '.join(names)}: base_url {LOCAL} wants a model on this machine, and {wrong}; run the profile with make "
        f"demo-local LOCAL_PROFILE=..., or (in JupyterLab) set {LOCAL_ADDRESS} to the address of a server that runs, "
        "such as http://127.0.0.1:8080/v1"
    )
