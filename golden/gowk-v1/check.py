#!/usr/bin/env python3
"""Reads the .gowk files of version 1 by docs/format.md alone and answers from them.

Shares no code with the library: pure Python, the hash functions included. For each NAME.gowk there is NAME.answers, a line
"1<TAB>key" or "0<TAB>key" for each key asked, as the library answered when the file was written. Integers are written as
"#42", text as it is. Run it with no arguments; it says what differs and fails.
"""

import math
import pathlib
import struct
import sys

MASK = (1 << 64) - 1
SPREAD = 0xD1342543DE82EF95
HERE = pathlib.Path(__file__).parent


def rotl(x, n):
    return ((x << n) | (x >> (64 - n))) & MASK


def siphash13(key, data):
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def round_():
        v[0] = (v[0] + v[1]) & MASK
        v[1] = rotl(v[1], 13) ^ v[0]
        v[0] = rotl(v[0], 32)
        v[2] = (v[2] + v[3]) & MASK
        v[3] = rotl(v[3], 16) ^ v[2]
        v[0] = (v[0] + v[3]) & MASK
        v[3] = rotl(v[3], 21) ^ v[0]
        v[2] = (v[2] + v[1]) & MASK
        v[1] = rotl(v[1], 17) ^ v[2]
        v[2] = rotl(v[2], 32)

    whole = len(data) // 8 * 8
    words = [w for (w,) in struct.iter_unpack("<Q", data[:whole])]
    tail = data[whole:] + bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for word in [*words, struct.unpack("<Q", tail)[0]]:
        v[3] ^= word
        round_()
        v[0] ^= word
    v[2] ^= 0xFF
    for _ in range(3):
        round_()
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def mum(a, b):
    product = a * b
    return product & MASK, product >> 64


def mix(a, b):
    low, high = mum(a, b)
    return low ^ high


def rapidhash_v3(data, seed, secret):
    """rapidhash v3 with a seed that is used as it is."""
    n = len(data)

    def word(at):
        return struct.unpack_from("<Q", data, at)[0]

    if n <= 16:
        rest = n
        if n >= 4:
            seed ^= n
            if n >= 8:
                a, b = word(0), word(n - 8)
            else:
                a, b = struct.unpack_from("<I", data)[0], struct.unpack_from("<I", data, n - 4)[0]
        elif n:
            a, b = data[0] << 45 | data[n - 1], data[n >> 1]
        else:
            a = b = 0
    else:
        at, rest = 0, n
        if rest > 112:
            lanes = [seed] * 7
            while rest > 112:
                for i in range(7):
                    lanes[i] = mix(word(at + 16 * i) ^ secret[i], word(at + 16 * i + 8) ^ lanes[i])
                at, rest = at + 112, rest - 112
            seed = 0
            for lane in lanes:
                seed ^= lane
        for i, which in enumerate([2, 2, 1, 1, 2, 1]):
            if rest > 16 * (i + 1):
                seed = mix(word(at + 16 * i) ^ secret[which], word(at + 16 * i + 8) ^ seed)
        a, b = word(n - 16) ^ rest, word(n - 8)
    a, b = mum(a ^ secret[1], b ^ seed)
    return mix(a ^ 0xAAAAAAAAAAAAAAAA, b ^ secret[1] ^ rest)


class Head:
    def __init__(self, data):
        magic, version, self.family, params_len, body_len = struct.unpack_from("<8sHHIQ", data)
        assert magic == b"gowk\r\n\x1a\0" and version == 1, "not a version 1 file"
        self.items, self.fpp, self.keys, self.hash = struct.unpack_from("<QdQB", data, 24)
        self.seed = data[56:72]
        (length,) = struct.unpack_from("<Q", data, 112)
        assert length == len(data), "length"
        self.params = data[128 : 128 + params_len]
        start = (128 + params_len + 63) // 64 * 64
        self.body = data[start:]
        assert len(self.body) == body_len, "body length"

    def h1(self, key):
        if self.hash == 2:
            return siphash13(self.seed, key)
        words = [siphash13(self.seed, struct.pack("<Q", i)) for i in range(8)]
        return rapidhash_v3(key, words[0], words[1:])


SALT = [0x6A09E667, 0xBB67AE85, 0x3C6EF373, 0xA54FF53B, 0x510E527F, 0x9B05688D, 0x1F83D9AB, 0x5BE0CD19]
PATTERN = {1: 0x01, 2: 0x03, 3: 0x0B, 4: 0x17, 5: 0x2F, 6: 0x3F, 7: 0x7F, 8: 0xFF}
PARQUET_SALT = [0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31]


def second(h1):
    return ((h1 ^ (h1 >> 32)) * SPREAD) & MASK


def dword(body, at):
    return struct.unpack_from("<I", body, 4 * at)[0]


def blocked(params, body, h1):
    blocks, lines, lanes = struct.unpack_from("<QBB", params)
    block = (h1 * blocks) >> 64
    words = [h1 & 0xFFFFFFFF]
    product = second(h1)
    while len(words) < lines:
        words.append(product >> 32)
        product = (product * SPREAD) & MASK
    for line, w in enumerate(words):
        turn = (w >> 5) & 7
        used = ((PATTERN[lanes] << turn) | (PATTERN[lanes] >> (8 - turn))) & 0xFF
        for j in range(8):
            if used >> j & 1:
                p = w * SALT[j] & 0xFFFFFFFF
                at = 16 * (block * lines + line) + j + 8 * (p >> 31)
                if not dword(body, at) >> (p >> 26 & 31) & 1:
                    return False
    return True


def bloom(params, body, h1):
    bits, probes, scheme = struct.unpack_from("<QIB", params)
    x, y = h1, second(h1)
    for _ in range(probes):
        at = 64 * (x * (bits // 64) >> 64) + x % 64 if scheme == 0 else x % bits
        if not body[at >> 3] >> (at & 7) & 1:
            return False
        y = (y + (SPREAD if scheme == 0 else 0)) & MASK
        x = (x + y) & MASK
    return True


def split_block(params, body, h1):
    (blocks,) = struct.unpack_from("<Q", params)
    block = ((h1 >> 32) * blocks) >> 32
    low = h1 & 0xFFFFFFFF
    return all(dword(body, 8 * block + j) >> ((low * PARQUET_SALT[j] & 0xFFFFFFFF) >> 27) & 1 for j in range(8))


def scalable(params, body, h1):
    (links,) = struct.unpack_from("<I", params, 24)
    at = 32
    for _ in range(links):
        blocks, lines = struct.unpack_from("<QB", params, at)
        size = blocks * lines * 64
        if blocked(params[at : at + 16], body[:size], h1):
            return True
        body, at = body[size:], at + 40
    return False


FAMILY = {1: blocked, 2: bloom, 3: split_block, 4: scalable}


def key_bytes(text):
    return struct.pack("<q", int(text[1:])) if text.startswith("#") else text.encode()


def check(path):
    head = Head(path.read_bytes())
    if head.family not in FAMILY:
        return None
    wrong = 0
    asked = path.with_suffix(".answers").read_text().splitlines()
    for line in asked:
        answer, key = line.split("\t", 1)
        got = FAMILY[head.family](head.params, head.body, head.h1(key_bytes(key)))
        wrong += got != (answer == "1")
    assert asked and 0 < head.fpp <= 1 and math.isfinite(head.fpp), path
    return len(asked), wrong


def main():
    passed = failed = 0
    for path in sorted(HERE.glob("*.gowk")):
        result = check(path)
        if result is None:
            continue
        asked, wrong = result
        print(f"{path.name}: {asked} answers, {wrong} wrong")
        passed, failed = passed + (wrong == 0), failed + (wrong > 0)
    assert passed + failed, "no golden files"
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
