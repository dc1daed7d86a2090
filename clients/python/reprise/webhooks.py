# SPDX-License-Identifier: Apache-2.0
"""Checks the signature of webhooks and of 'http' jobs (https://www.standardwebhooks.com)."""
from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
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
    key = _key(secret)
    given = {name.lower(): value for name, value in headers.items()}
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        if not given.get(name):
            raise InvalidSignature(f"the header {name} is missing")
    sent = given["webhook-timestamp"]
    if not re.fullmatch("[0-9]{1,15}", sent):
        raise InvalidSignature("webhook-timestamp is not a number of seconds")
    age = now() - int(sent)
    if abs(age) > tolerance:
        raise InvalidSignature(f"webhook-timestamp is {age:.0f} s from now; {tolerance:.0f} s are allowed")
    raw = _bytes(body) if isinstance(body, str) else body
    signed = _bytes(f"{given['webhook-id']}.{sent}.") + raw
    wanted = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    for signature in given["webhook-signature"].split():
        version, _, value = signature.partition(",")
        if version == "v1" and hmac.compare_digest(wanted, _bytes(value)):
            return json.loads(raw)
    raise InvalidSignature("no signature matches: wrong secret, or the body was changed")


def _bytes(text: str) -> bytes:
    """Frameworks turn bytes of a header or body that are no UTF-8 into halves of surrogate pairs."""
    return text.encode("utf-8", "surrogatepass")


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret[6:] if secret.startswith("whsec_") else secret, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not key:  # Anybody can sign with an empty one.
        raise ValueError("the secret is not whsec_ and base64")
    return key
