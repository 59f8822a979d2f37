#!/usr/bin/env python3
"""Verifies a Tallystick receipts folder. Written from docs/receipts.md alone, with Python's standard library alone.

Usage: verify.py <folder> [--head H] [--key K] [--workspace W] [--json]
Exit status: 0 the chain is valid, 1 it is not, 2 wrong usage or no receipts folder.
"""

import argparse
import base64
import binascii
import hashlib
import json
import math
import os
import re
import stat
import sys

MAX_DEPTH = 64
MAX_RECEIPT = 256 * 1024 * 1024
MAX_LINE = 1024 * 1024
MAX_NOTE = 64 * 1024

RECEIPT_ID = re.compile(r"rcpt_[0-9]{8}_([0-9]{8})[0-9a-f]{4}")
HASH = re.compile(r"sha256:[0-9a-f]{64}")
TEMPORARY = re.compile(r"\.durable-[0-9a-f]{32}\.tmp")
MEMBERS = ["action", "fields", "prev_receipt_hash", "receipt_id", "run_id", "self_hash", "seq", "timestamp"]


class Fault(Exception):
    def __init__(self, field, receipt_id=None, detail=""):
        super().__init__(field)
        self.field, self.receipt_id, self.detail = field, receipt_id, detail


class NoCanonicalForm(Exception):
    pass


# Canonical form (RFC 8785)

ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
ESCAPED = re.compile(r'[\x00-\x1f"\\]')


def utf16(text):
    return text.encode("utf-16-be", "surrogatepass")


def canonical_string(text):
    if any("\ud800" <= c <= "\udfff" for c in text):
        raise NoCanonicalForm("lone surrogate")
    return '"' + ESCAPED.sub(lambda m: ESCAPES.get(m[0]) or "\\u%04x" % ord(m[0]), text) + '"'


def canonical_number(value):
    """As ECMAScript's Number::toString; Python's repr has the same shortest digits."""
    if math.isnan(value) or math.isinf(value):
        raise NoCanonicalForm("not finite")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, part = mantissa.partition(".")
    part = "" if part == "0" else part
    point = len(whole) + int(exponent or 0)
    digits = (whole + part).lstrip("0")
    point -= len(whole + part) - len(digits)
    digits = digits.rstrip("0")
    n = len(digits)
    if n <= point <= 21:
        text = digits + "0" * (point - n)
    elif 0 < point <= 21:
        text = digits[:point] + "." + digits[point:]
    elif -6 < point <= 0:
        text = "0." + "0" * -point + digits
    else:
        power = point - 1
        text = digits[0] + ("." + digits[1:] if n > 1 else "") + "e" + ("+" if power > 0 else "-") + str(abs(power))
    return sign + text


def canonical(value, depth=0):
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, str):
        return canonical_string(value)
    if isinstance(value, float):
        return canonical_number(value)
    if isinstance(value, list):
        return "[" + ",".join(canonical(item, depth + 1) for item in value) + "]"
    names = sorted(value, key=utf16)
    return "{" + ",".join(canonical_string(n) + ":" + canonical(value[n], depth + 1) for n in names) + "}"


def depth_of(text):
    """How deep valid JSON is nested: brackets outside of strings."""
    depth = deepest = 0
    for token in re.findall(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', text, re.DOTALL):
        if token in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif token in "]}":
            depth -= 1
    return deepest


class Duplicate(Exception):
    pass


def parse(data):
    """The object in these bytes; all numbers are doubles. None if it is not UTF-8 JSON of one object."""

    def no_constant(name):
        raise ValueError(name)

    def members(pairs):
        result = dict(pairs)
        if len(result) != len(pairs):
            duplicates.append(True)
        return result

    duplicates = []
    try:
        value = json.loads(
            data.decode("utf-8"),
            parse_int=float,
            parse_float=float,
            parse_constant=no_constant,
            object_pairs_hook=members,
        )
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    if duplicates:
        raise Duplicate()
    return value


def parse_canonical(data):
    """The object whose canonical form and an LF these bytes are; None if they are not."""
    try:
        value = parse(data)
        if value is None or canonical(value).encode("utf-8") + b"\n" != data:
            return None
    except (Duplicate, NoCanonicalForm, RecursionError):
        return None
    return value if depth_of(data.decode("utf-8")) <= MAX_DEPTH else None


def sha256(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def digest(value):
    try:
        return hashlib.sha256(canonical(value).encode("utf-8")).hexdigest()[:16]
    except (NoCanonicalForm, RecursionError):
        return None


# Ed25519 (RFC 8032), verification only

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)


def point_add(p, q):
    a = (p[1] - p[0]) * (q[1] - q[0]) % P
    b = (p[1] + p[0]) * (q[1] + q[0]) % P
    c = 2 * p[3] * q[3] * D % P
    d = 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def point_multiply(scalar, point):
    result = (0, 1, 1, 0)
    while scalar > 0:
        if scalar & 1:
            result = point_add(result, point)
        point = point_add(point, point)
        scalar >>= 1
    return result


def point_decode(data):
    y = int.from_bytes(data, "little")
    sign = y >> 255
    y &= 2**255 - 1
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P != 0:
        x = x * ROOT % P
    if (x * x - square) % P != 0 or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


def point_encode(point):
    inverse = pow(point[2], P - 2, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


BASE = point_decode((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def ed25519_verify(public_key, message, signature):
    if len(signature) != 64:
        return False
    a = point_decode(public_key)
    s = int.from_bytes(signature[32:], "little")
    if a is None or s >= L:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + public_key + message).digest(), "little") % L
    negative = (P - a[0], a[1], a[2], P - a[3])
    return point_encode(point_add(point_multiply(s, BASE), point_multiply(h, negative))) == signature[:32]


# Checkpoint

NOTE = re.compile(
    r"(tallystick/(ws_[0-9a-hjkmnp-tv-z]{16})\n(0|[1-9][0-9]{0,7})\n([A-Za-z0-9+/]{43}=)\nindex (sha256:[0-9a-f]{64})\n)"
    r"\n((?:\u2014 [!-*,-~]+ [A-Za-z0-9+/]+={0,2}\n)*)"
)


def strict_base64(text):
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error:
        return None
    return data if base64.b64encode(data).decode() == text else None


def read_key(text):
    match = re.fullmatch(r"tallystick\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})", text)
    data = match and strict_base64(match[2])
    if not data or len(data) != 33 or data[0] != 1:
        return None
    if hashlib.sha256(b"tallystick\n" + data).hexdigest()[:8] != match[1]:
        return None
    return data[1:]


class Checkpoint:
    def __init__(self, data):
        try:
            match = NOTE.fullmatch(data.decode("utf-8"))
        except UnicodeDecodeError:
            match = None
        head = match and strict_base64(match[4])
        if not head:
            raise Fault("checkpoint", None, "CHECKPOINT is not what the format says")
        self.text, self.workspace, self.count = match[1], match[2], int(match[3])
        self.head, self.index_hash = "sha256:" + head.hex(), match[5]
        self.signatures = []
        for line in match[6].split("\n")[:-1]:
            name, encoded = line.split(" ")[1:]
            data = strict_base64(encoded)
            if data is None or len(data) < 5:
                raise Fault("checkpoint", None, "a signature line is not what the format says")
            self.signatures.append((name, data[:4], data[4:]))

    def check_signature(self, key):
        key_id = hashlib.sha256(b"tallystick\n\x01" + key).digest()[:4]
        ours = [value for name, found, value in self.signatures if name == "tallystick" and found == key_id]
        if not ours:
            raise Fault("checkpoint", None, "CHECKPOINT is not signed with this key")
        if not all(ed25519_verify(key, self.text.encode("utf-8"), value) for value in ours):
            raise Fault("checkpoint", None, "the signature is not right")


# Files


def open_plain(path, field, receipt_id=None):
    """None if there is no such file."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Fault(field, receipt_id, "can not be opened, or is a link: %s" % error)
    stats = os.fstat(handle)
    if not stat.S_ISREG(stats.st_mode) or stats.st_nlink != 1:
        os.close(handle)
        raise Fault(field, receipt_id, "is not a regular file with one name")
    return os.fdopen(handle, "rb")


def receipt_id_of_name(name):
    return name[:-5] if name.endswith(".json") and RECEIPT_ID.fullmatch(name[:-5]) else None


# One receipt


def read_line(data, position):
    line = parse_canonical(data) if len(data) <= MAX_LINE else None
    if line is None or sorted(line) != MEMBERS or not is_line(line):
        raise Fault("index", None, "line %d is not what the format says" % position)
    if line["seq"] != position:
        raise Fault("index", None, "line %d has another position" % position)
    return line


def is_line(line):
    fields = line["fields"]
    return (
        all(isinstance(line[name], str) for name in ("action", "run_id", "timestamp"))
        and all(isinstance(line[n], str) and HASH.fullmatch(line[n]) for n in ("prev_receipt_hash", "self_hash"))
        and isinstance(line["receipt_id"], str)
        and RECEIPT_ID.fullmatch(line["receipt_id"])
        and isinstance(line["seq"], float)
        and line["seq"].is_integer()
        and isinstance(fields, dict)
        and all(isinstance(d, str) and re.fullmatch(r"[0-9a-f]{16}", d) for d in fields.values())
    )


def changed_field(data, line):
    """Which field of a receipt was changed; None if every one is as the index has it."""
    fields = line["fields"]
    try:
        value = parse(data)
    except Duplicate:
        return "duplicate_key"
    if value is None:
        return broken_field(data, fields)
    order = sorted((n for n in fields if n != "self_hash"), key=utf16)
    order += [] if "self_hash" in value else ["self_hash"]
    order += sorted((n for n in value if n not in fields and n != "self_hash"), key=utf16)
    for name in order + ["self_hash"]:
        if name not in value or name not in fields or digest(value[name]) != fields[name]:
            return name
    return None


def broken_field(data, fields):
    start, before = 0, None
    for name in sorted(fields, key=utf16):
        marker = ((b"{" if before is None else b",") + canonical_string(name).encode("utf-8") + b":")
        found = data.find(marker, start)
        if found < 0:
            return name
        if before is not None and hashlib.sha256(data[start:found]).hexdigest()[:16] != fields[before]:
            return before
        start, before = found + len(marker), name
    if before is not None and hashlib.sha256(data[start : max(start, len(data) - 2)]).hexdigest()[:16] != fields[before]:
        return before
    return "canonical_form"


def check_receipt(data, line_bytes, line, place):
    """Its hash. `place`: position, hash of the receipt before, workspace."""
    position, before, workspace = place
    receipt_id = line["receipt_id"]

    def fail(field):
        raise Fault(field, None if field == "index" else receipt_id, "receipt number %d" % position)

    receipt = parse_canonical(data)
    if receipt is None or "self_hash" not in receipt:
        fail(changed_field(data, line) or "canonical_form")
    rest = {name: value for name, value in receipt.items() if name != "self_hash"}
    self_hash = sha256(canonical(rest).encode("utf-8"))
    if receipt["self_hash"] != self_hash:
        fail(changed_field(data, line) or "self_hash")
    if receipt.get("receipt_id") != receipt_id or int(RECEIPT_ID.fullmatch(receipt_id)[1]) != position:
        fail("receipt_id")
    if receipt.get("seq") != position or not isinstance(receipt["seq"], float):
        fail("seq")
    if receipt.get("workspace_id") != workspace:
        fail("workspace_id")
    if receipt.get("prev_receipt_hash") != before:
        fail("prev_receipt_hash")
    follows = {name: receipt.get(name) for name in MEMBERS if name != "fields"}
    follows["fields"] = {name: digest(value) for name, value in receipt.items()}
    if canonical(follows).encode("utf-8") + b"\n" != line_bytes:
        field = changed_field(data, line) if line["self_hash"] != self_hash else None
        fail("index" if field in (None, "self_hash") else field)
    return self_hash


# The whole


def verify(folder, head, key, workspace):
    note = open_plain(os.path.join(folder, "CHECKPOINT"), "checkpoint")
    if note is None:
        raise Fault("checkpoint", None, "CHECKPOINT is gone")
    with note:
        data = note.read(MAX_NOTE + 1)
    if len(data) > MAX_NOTE:
        raise Fault("checkpoint", None, "CHECKPOINT is over 64 KiB")
    checkpoint = Checkpoint(data)
    index = open_plain(os.path.join(folder, "INDEX.jsonl"), "index")
    if key is not None:
        checkpoint.check_signature(key)
    if workspace is not None and checkpoint.workspace != workspace:
        raise Fault("workspace_id", None, "this is the chain of " + checkpoint.workspace)
    receipts = 0
    for name in os.listdir(folder):
        if receipt_id_of_name(name):
            receipts += 1
        elif name not in ("INDEX.jsonl", "CHECKPOINT") and not TEMPORARY.fullmatch(name):
            raise Fault("file", None, "%r does not belong in this folder" % name)
    if index is None and (checkpoint.count > 0 or receipts > 0):
        raise Fault("index", None, "INDEX.jsonl is gone")
    count, last = verify_receipts(folder, index, checkpoint, receipts)
    if head is not None and head != last:
        raise Fault("head", None, "the head is " + last)
    if head is not None and checkpoint.count != count:
        raise Fault("checkpoint", None, "CHECKPOINT covers %d of %d receipts" % (checkpoint.count, count))
    return count, last


def verify_receipts(folder, index, checkpoint, receipts):
    genesis = sha256(b"tallystick/genesis/v1\n" + checkpoint.workspace.encode())
    last, count = genesis, 0
    marked = genesis if checkpoint.count == 0 else None
    covered = hashlib.sha256()
    while index is not None:
        line_bytes = index.readline(MAX_LINE + 1)
        if not line_bytes:
            break
        count += 1
        line = read_line(line_bytes, count)
        receipt_id = line["receipt_id"]
        file = open_plain(os.path.join(folder, receipt_id + ".json"), "file", receipt_id)
        if file is None:
            raise Fault("file", receipt_id, "the file is gone")
        with file:
            data = file.read(MAX_RECEIPT + 1)
        if len(data) > MAX_RECEIPT:
            raise Fault("file", receipt_id, "the file is over 256 MiB")
        last = check_receipt(data, line_bytes, line, (count, last, checkpoint.workspace))
        if count <= checkpoint.count:
            covered.update(line_bytes)
        if count == checkpoint.count:
            marked = last
    if receipts > count:
        raise Fault("file", first_without_line(folder, index), "the receipt has no line in INDEX.jsonl")
    if checkpoint.count > count:
        raise Fault("checkpoint", None, "CHECKPOINT covers %d receipts, here are %d" % (checkpoint.count, count))
    if checkpoint.head != marked or checkpoint.index_hash != "sha256:" + covered.hexdigest():
        raise Fault("checkpoint", None, "CHECKPOINT has another head or index hash")
    return count, last


def first_without_line(folder, index):
    ids = set()
    if index is not None:
        index.seek(0)
        ids = {json.loads(line)["receipt_id"] for line in index}
    return min(i for i in map(receipt_id_of_name, os.listdir(folder)) if i is not None and i not in ids)


def main():
    parser = argparse.ArgumentParser(description="Verifies a Tallystick receipts folder.")
    parser.add_argument("folder")
    parser.add_argument("--head")
    parser.add_argument("--key")
    parser.add_argument("--workspace")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    key = read_key(options.key) if options.key is not None else None
    if options.key is not None and key is None:
        parser.error("--key is not a verifier key")
    if options.head is not None and not HASH.fullmatch(options.head):
        parser.error("--head is not a hash")
    folder = options.folder
    if os.path.isdir(os.path.join(folder, ".service", "receipts")):
        folder = os.path.join(folder, ".service", "receipts")
    if not os.path.isdir(folder) or not looks_like_receipts(folder, options):
        parser.error("%s is no receipts folder" % options.folder)
    try:
        count, head = verify(folder, options.head, key, options.workspace)
        verdict = {"valid": True, "field": None, "receipt_id": None, "count": count, "head": head}
    except Fault as fault:
        verdict = {"valid": False, "field": fault.field, "receipt_id": fault.receipt_id, "detail": fault.detail}
    if options.json:
        print(json.dumps(verdict))
    elif verdict["valid"]:
        print("valid: %d receipts, head %s" % (verdict["count"], verdict["head"]))
    else:
        print("NOT valid: %s in %s: %s" % (verdict["field"], verdict["receipt_id"] or "the chain", verdict["detail"]))
    return 0 if verdict["valid"] else 1


def looks_like_receipts(folder, options):
    """Who gives a head, a key or a workspace says that there was a chain, whatever is left of it."""
    if options.head or options.key or options.workspace:
        return True
    return any(n in ("INDEX.jsonl", "CHECKPOINT") or receipt_id_of_name(n) for n in os.listdir(folder))


if __name__ == "__main__":
    sys.exit(main())
