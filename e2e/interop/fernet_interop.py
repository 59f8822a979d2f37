"""Opens and seals tokens and whole stores with python3-cryptography, as docs/secrets.md says, sharing no code with
the daemon. One JSON document on standard input, one on standard output; all bytes are base64."""

import base64
import json
import sys

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


def derive(master, salt, info, length):
    return HKDF(algorithm=SHA256(), length=length, salt=salt, info=info).derive(base64.b64decode(master))


def fernet(key):
    return Fernet(base64.urlsafe_b64encode(key))


def store_fernet(case):
    return fernet(derive(case["master"], case["ws_id"].encode(), b"tallystick/secrets/v1", 32))


def key_id(master):
    return "mk_" + derive(master, None, b"tallystick/master-key-id/v1", 8).hex()


def opened(box, token):
    try:
        return base64.b64encode(box.decrypt(token.encode())).decode()
    except InvalidToken:
        return None


def canonical(case):
    store = {"generation": case["generation"], "secrets": case["secrets"], "version": 1, "ws_id": case["ws_id"]}
    return json.dumps(store, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


question = json.load(sys.stdin)
raw = base64.b64decode
json.dump(
    {
        "opened_tokens": [opened(fernet(raw(c["key"])), c["token"]) for c in question["open_tokens"]],
        "opened_stores": [opened(store_fernet(c), c["token"]) for c in question["open_stores"]],
        "sealed_tokens": [fernet(raw(c["key"])).encrypt(raw(c["text"])).decode() for c in question["seal_tokens"]],
        "sealed_stores": [
            {
                "token": store_fernet(c).encrypt(canonical(c)).decode(),
                "plaintext": base64.b64encode(canonical(c)).decode(),
                "key_id": key_id(c["master"]),
            }
            for c in question["seal_stores"]
        ],
    },
    sys.stdout,
)
