#!/usr/bin/env python3
"""Reads the .gowk files of version 1 by docs/format.md alone and answers from them.

Shares no code with the library: pure Python, the hash functions included. For each NAME.gowk there is NAME.answers, a line
"answer<TAB>key" for each key asked, as the library answered when the file was written: 1 or 0 for filters and bitmaps, how
often for what counts (top-k: "at most, over by"). Integers are written as "#42", text as it is. Run it with no arguments; it says what differs and fails.
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


def line_words(h1, lines):
    """The word of each line of a block."""
    words = [h1 & 0xFFFFFFFF]
    product = second(h1)
    while len(words) < lines:
        words.append(product >> 32)
        product = (product * SPREAD) & MASK
    return words


def used_lanes(w, lanes):
    turn = (w >> 5) & 7
    used = ((PATTERN[lanes] << turn) | (PATTERN[lanes] >> (8 - turn))) & 0xFF
    return [j for j in range(8) if used >> j & 1]


def in_lines(body, first, words, lanes):
    """Whether each of the lines from the first on has all bits of its word."""
    for line, w in enumerate(words):
        for j in used_lanes(w, lanes):
            p = w * SALT[j] & 0xFFFFFFFF
            if not dword(body, 16 * (first + line) + j + 8 * (p >> 31)) >> (p >> 26 & 31) & 1:
                return False
    return True


def blocked(params, body, h1):
    blocks, lines, lanes = struct.unpack_from("<QBB", params)
    return in_lines(body, (h1 * blocks >> 64) * lines, line_words(h1, lines), lanes)


TRIOS = {
    1: (0x01, 0, 0), 2: (0x01, 0x02, 0), 3: (0x01, 0x02, 0x04), 4: (0x03, 0x04, 0x08),
    5: (0x03, 0x14, 0x08), 6: (0x03, 0x14, 0x48), 7: (0x0B, 0x44, 0x30), 8: (0x0B, 0xB0, 0x44),
    9: (0xC1, 0x32, 0x49), 10: (0xC9, 0x34, 0x51),
}
DUOS = {
    1: (0x01, 0), 2: (0x01, 0x02), 3: (0x03, 0x04), 4: (0x03, 0x14), 5: (0x0B, 0x44), 6: (0x0B, 0x64), 7: (0x17, 0x68),
}
SOLOS = {1: (0x01,), 2: (0x03,), 3: (0x0B,)}
CLUSTERED, PAIRED, FEWEST = 2, 3, 4


def lines_of_a_round(scheme, rounds, longest):
    if scheme == FEWEST and rounds <= 2:
        return -(-2 * longest // 7)
    return 2 if scheme == PAIRED and longest <= 5 else 3


def clustered(bits, probes, body, h1, scheme):
    lines = bits // 512
    near = min(1024, 1 << (lines.bit_length() - 1))
    base = h1 * lines >> 64
    rounds = 1 if scheme == FEWEST and probes <= 10 else -(-probes // 8)
    patterns = {1: SOLOS, 2: DUOS, 3: TRIOS}[lines_of_a_round(scheme, rounds, -(-probes // rounds))]
    product = second(h1)
    for number in range(rounds):
        lanes = probes // rounds + (number < probes % rounds)
        if number == 0:
            steps = h1 * lines & MASK if scheme == FEWEST else product
            w, by = h1 & 0xFFFFFFFF, (0, steps >> 54, steps >> 44)
        else:
            product = product * SPREAD & MASK
            w, by = product >> 2 & 0xFFFFFFFF, (product >> 34, product >> 54, product >> 44)
        turn = (w >> 5) & 7
        for pattern, step in zip(patterns[lanes], by):
            line = (base + step % near) % lines
            used = (pattern << turn | pattern >> (8 - turn)) & 0xFF
            for j in range(8):
                p = w * SALT[j] & 0xFFFFFFFF
                if used >> j & 1 and not dword(body, 16 * line + j + 8 * (p >> 31)) >> (p >> 26 & 31) & 1:
                    return False
    return True


def bloom(params, body, h1):
    bits, probes, scheme = struct.unpack_from("<QIB", params)
    if scheme in (CLUSTERED, PAIRED, FEWEST):
        return clustered(bits, probes, body, h1, scheme)
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


def scale(x, n):
    return x * n >> 64


def cuckoo(head, h1, _):
    """How often the key is there: the slots of its class, and the keys beyond them that are only counted."""
    buckets, parts, slots, print_bits, spare = struct.unpack_from("<QBBBB", head.params)
    classes, counted = struct.unpack_from("<QQ", head.params, 32)
    width, grid = print_bits + spare, buckets << spare
    bits = int.from_bytes(head.body, "little")
    f = h1 % (1 << print_bits) or 1

    def shift(c, among):
        m = (4 * f + c) * SPREAD & MASK
        return scale((m ^ m >> 32) * SPREAD & MASK, among)

    if parts == 2:
        p = scale(h1, grid)
        places = {p, (shift(1, grid) - p) % grid}
    else:
        among = grid // parts
        u = scale(h1, among)
        places = {u} | {c * among + (u + shift(c, among)) % among for c in range(1, parts)}
    found = 0
    for place in places:
        value = f << spare | place % (1 << spare)
        first = (place >> spare) * slots
        found += sum(bits >> (first + s) * width & (1 << width) - 1 == value for s in range(slots))

    table = (buckets * slots * width + 128 + 511) // 512 * 64
    entries = [struct.unpack_from("<QQ", head.body, at) for at in range(table, len(head.body), 16)]
    if entries:
        assert sum(word >> 16 > 0 for _, word in entries) == classes, "counted classes"
        assert sum(word >> 16 for _, word in entries) == counted, "counted keys"
        at = ((min(places) * SPREAD ^ f) * SPREAD & MASK) >> 32
        while entries[at % len(entries)][1] >> 16:
            place, word = entries[at % len(entries)]
            if (place, word & 0xFFFF) == (min(places), f):
                found += word >> 16
            at += 1
    return found


def counting(head, h1, _):
    blocks, lines, lanes = struct.unpack_from("<QBB", head.params)
    least = 15
    for line, w in enumerate(line_words(h1, lines)):
        for j in used_lanes(w, lanes):
            (word,) = struct.unpack_from("<Q", head.body, 64 * (scale(h1, blocks) * lines + line) + 8 * j)
            least = min(least, word >> 4 * ((w * SALT[j] & 0xFFFFFFFF) >> 28) & 15)
    return least


def window(head, h1, _):
    blocks, lines, lanes, generations = struct.unpack_from("<QBBB", head.params)
    first = scale(h1, blocks) * generations
    return any(in_lines(head.body, (first + g) * lines, line_words(h1, lines), lanes) for g in range(generations))


def bitmap(head, _, key):
    start, end = struct.unpack_from("<QQ", head.params)
    (number,) = struct.unpack("<q", key)
    (word,) = struct.unpack_from("<Q", head.body, 8 * (number // 64 - 8 * (start // 512))) if start <= number < end else (0,)
    return word >> number % 64 & 1


def two_bit_map(head, _, key):
    start, end = struct.unpack_from("<QQ", head.params)
    (number,) = struct.unpack("<q", key)
    (word,) = struct.unpack_from("<Q", head.body, 8 * (number // 32 - 8 * (start // 256))) if start <= number < end else (0,)
    return min(word >> 2 * (number % 32) & 3, 2)


def count_min(head, h1, _):
    width, depth = struct.unpack_from("<QI", head.params)
    return min(dword(head.body, r * width + scale(h1 * SPREAD**r & MASK, width)) for r in range(depth))


def top_k(head, h1, key):
    """How often the key came, at most, and by how much that may be over."""
    _, slots, cells, used, _ = struct.unpack_from("<5Q", head.params)
    filter_at = (32 * slots + 63) // 64 * 64
    keys_at = filter_at + 8 * cells
    for slot in range(used):
        digest, count, over, place = struct.unpack_from("<4Q", head.body, 32 * slot)
        at = keys_at + 8 * (place >> 32)
        if digest == h1 and head.body[at : at + (place & 0xFFFFFFFF)] == key:
            return f"{count} {over}"
    (most,) = struct.unpack_from("<Q", head.body, filter_at + 8 * scale(second(h1), cells))
    return f"{most} {most}"


def binary_fuse(params, body, h1):
    span, multiplier, slots, width, log = struct.unpack_from("<QQBBB", params)
    p, r = scale(h1, span), h1 * multiplier & MASK
    q = r * SPREAD & MASK
    low = (1 << log) - 1
    places = [p ^ (r >> 36 & low), (p + (1 << log)) ^ (r >> 16 & low)]
    if slots == 4:
        places.append((p + (2 << log)) ^ (q >> 36 & low))
    places.append(p + (slots - 1 << log))
    bits = int.from_bytes(body, "little")
    found = 0
    for place in places:
        found ^= bits >> place * width
    return (found ^ h1) & ((1 << width) - 1) == 0


def member(function):
    """A family that is asked by its digest, and says yes or no."""
    return lambda head, h1, _: function(head.params, head.body, h1)


FAMILY = {
    1: member(blocked),
    2: member(bloom),
    3: member(split_block),
    4: member(scalable),
    5: cuckoo,
    6: counting,
    7: member(binary_fuse),
    8: window,
    9: bitmap,
    10: two_bit_map,
    11: count_min,
    12: top_k,
}


def key_bytes(text):
    return struct.pack("<q", int(text[1:])) if text.startswith("#") else text.encode()


def check(path):
    head = Head(path.read_bytes())
    family = FAMILY[head.family]
    wrong = 0
    asked = path.with_suffix(".answers").read_text().splitlines()
    for line in asked:
        answer, text = line.split("\t", 1)
        key = key_bytes(text)
        got = family(head, head.h1(key), key)
        wrong += answer != (got if isinstance(got, str) else str(int(got)))
    assert asked and 0 < head.fpp <= 1 and math.isfinite(head.fpp), path
    return len(asked), wrong


def main():
    passed = failed = 0
    for path in sorted(HERE.glob("*.gowk")):
        asked, wrong = check(path)
        print(f"{path.name}: {asked} answers, {wrong} wrong")
        passed, failed = passed + (wrong == 0), failed + (wrong > 0)
    assert passed + failed, "no golden files"
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
