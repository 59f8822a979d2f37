"""The peer of bench/clients/fernet-store.ts: the same calls per second, with python3-cryptography."""

import hashlib
import json
import sys
import time

from cryptography.fernet import Fernet

question = json.loads(sys.argv[1])
with open(question["sample"], encoding="utf-8") as file:
    sample = json.load(file)
box = Fernet(sample["key"])
token = sample["token"].encode()
plaintext = box.decrypt(token)
store = json.loads(plaintext)


def open_store():
    return json.loads(box.decrypt(token))


def seal_store():
    return box.encrypt(json.dumps(store, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode())


def rate_of(call):
    for _ in range(1000):
        call()
    started = time.perf_counter()
    calls = 0
    elapsed = 0.0
    while elapsed < question["seconds"]:
        for _ in range(50):
            call()
        calls += 50
        elapsed = time.perf_counter() - started
    return calls / elapsed


answer = {
    "openStore": rate_of(open_store),
    "sealStore": rate_of(seal_store),
    "openToken": rate_of(lambda: box.decrypt(token)),
    "sealToken": rate_of(lambda: box.encrypt(plaintext)),
    "sha256": hashlib.sha256(box.decrypt(seal_store())).hexdigest(),
}
print(json.dumps(answer))
