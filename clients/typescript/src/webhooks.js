// SPDX-License-Identifier: Apache-2.0
import { createHmac, timingSafeEqual } from "node:crypto";

const TOLERANCE_SECONDS = 300;

export class InvalidSignature extends Error {
  constructor(message) {
    super(message);
    this.name = "InvalidSignature";
  }
}

export function verify(secret, headers, body, { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now } = {}) {
  const key = keyOf(secret);
  const raw = bytesOf(body);
  const given = lowered(headers);
  for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"]) {
    if (!given.get(name)) {
      throw new InvalidSignature(`the header ${name} is missing`);
    }
  }
  const sent = given.get("webhook-timestamp");
  if (!/^\d{1,15}$/.test(sent)) {
    throw new InvalidSignature("webhook-timestamp is not a number of seconds");
  }
  const age = now() / 1000 - Number(sent);
  if (Math.abs(age) > toleranceSeconds) {
    throw new InvalidSignature(`webhook-timestamp is ${age.toFixed(0)} s from now; ${toleranceSeconds} s are allowed`);
  }
  const wanted = createHmac("sha256", key).update(`${given.get("webhook-id")}.${sent}.`).update(raw).digest();
  for (const signature of given.get("webhook-signature").split(/\s+/)) {
    const [version, value] = signature.split(",", 2);
    const bytes = Buffer.from(value ?? "", "base64");
    if (version === "v1" && bytes.length === wanted.length && timingSafeEqual(bytes, wanted)) {
      return JSON.parse(raw.toString());
    }
  }
  throw new InvalidSignature("no signature matches: wrong secret, or the body was changed");
}

function lowered(headers) {
  const entries = typeof headers.entries === "function" ? [...headers.entries()] : Object.entries(headers);
  return new Map(entries.map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value.join(" ") : value]));
}

function bytesOf(body) {
  if (typeof body === "string" || body instanceof ArrayBuffer) {
    return Buffer.from(body);
  }
  if (ArrayBuffer.isView(body)) {
    return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  }
  throw new TypeError("pass the body as it arrived, as text or bytes");
}

function keyOf(secret) {
  const text = String(secret).replace(/^whsec_/, "");
  const key = Buffer.from(/^[A-Za-z0-9+/]+={0,2}$/.test(text) ? text : "", "base64");
  if (typeof secret !== "string" || key.length === 0) {
    throw new TypeError("the secret is not whsec_ and base64"); // Anybody can sign with an empty one.
  }
  return key;
}
