# SPDX-License-Identifier: Apache-2.0
"""Checks the signature of webhooks and of 'http' jobs (https://www.standardwebhooks.com)."""
from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Any, Callable, Mapping, Union

TOLERANCE = 300.0


class InvalidSignature(Exception):
    """The message is not from the holder of the secret, or it is too old. Answer 400 and do nothing."""


def verify(
    secret: str,
    headers: Mapping[str, str],
    body: Union[bytes, str],
    *,
    tolerance: float = TOLERANCE,
    now: Callable[[], float] = time.time,
) -> Any:
    """Returns the message (JSON) if its signature is right and its time is within ``tolerance`` seconds of now.

    Pass the body as it arrived: parsed and written again, it has another signature. The same ``webhook-id`` may come
    more than once; remember those that you have handled.
    """
    given = {name.lower(): value for name, value in headers.items()}
    try:
        id, sent, signatures = given["webhook-id"], given["webhook-timestamp"], given["webhook-signature"]
    except KeyError as missing:
        raise InvalidSignature(f"the header {missing.args[0]} is missing") from None
    try:
        age = now() - int(sent)
    except ValueError:
        raise InvalidSignature("webhook-timestamp is not a number of seconds") from None
    if abs(age) > tolerance:
        raise InvalidSignature(f"webhook-timestamp is {age:.0f} s from now; {tolerance:.0f} s are allowed")
    raw = body.encode() if isinstance(body, str) else body
    wanted = base64.b64encode(hmac.new(_key(secret), f"{id}.{sent}.".encode() + raw, hashlib.sha256).digest())
    for signature in signatures.split():
        version, _, value = signature.partition(",")
        if version == "v1" and hmac.compare_digest(wanted, value.encode()):
            return json.loads(raw)
    raise InvalidSignature("no signature matches: wrong secret, or the body was changed")


def _key(secret: str) -> bytes:
    try:
        return base64.b64decode(secret[6:] if secret.startswith("whsec_") else secret, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("the secret is not whsec_ and base64") from None
