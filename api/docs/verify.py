#!/usr/bin/env python3
"""Verifies what keepup exports, without keepup. Needs Python 3.8 or newer and no package.
  verify.py PACK [POLICY]               a pack (folder or tar file); POLICY replaces the pack's own policy.txt
  verify.py proof FILE POLICY [HASH]    a .tlog-proof, of the event with this hash
  verify.py note FILE VKEY...           a signed note, such as a checkpoint
Formats: c2sp.org/signed-note, tlog-checkpoint, tlog-cosignature, tlog-proof and tlog-policy; the tree of RFC 6962."""
import base64, hashlib, json, pathlib, re, sys, tarfile, time
def require(fact, message):
    if not fact: raise ValueError(message)
def plain(text): return ascii(text)[1:-1]
def why(error): return f'{error.args[0]} is missing' if isinstance(error, KeyError) else str(error)
def sha256(data): return hashlib.sha256(data).digest()
def unhex(text): return require(re.fullmatch('[0-9a-f]{64}', text), 'not 64 hex digits: ' + text) or bytes.fromhex(text)
def encode(data): return base64.b64encode(data).decode()
def decode(text):
    require(encode(base64.b64decode(text, validate=True)) == text, 'base64 with stray bits')
    return base64.b64decode(text)

# Ed25519 (RFC 8032 5.1), with points as (X, Y, Z, T). There is no secret, so the time of a calculation may vary.
P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D, I = -121665 * pow(121666, -1, P) % P, pow(2, (P - 1) // 4, P)
def point(data):
    y, sign = int.from_bytes(data, 'little') % 2**255, data[31] >> 7
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P: x = x * I % P
    require(y < P and (x * x - square) % P == 0 and (x or not sign), 'not a point of the curve')
    x = x if x % 2 == sign else P - x
    return x, y, 1, x * y % P
def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]), (p[1] + p[0]) * (q[1] + q[0])
    c, d = 2 * p[3] * q[3] * D, 2 * p[2] * q[2]
    return (b - a) * (d - c) % P, (d + c) * (b + a) % P, (d - c) * (d + c) % P, (b - a) * (b + a) % P
def multiply(n, p):
    even = multiply(n // 2, add(p, p)) if n else (0, 1, 1, 0)
    return add(even, p) if n % 2 else even
BASE = point((4 * pow(5, -1, P) % P).to_bytes(32, 'little'))
def ed25519(public, message, signature):
    r, s = signature[:32], int.from_bytes(signature[32:], 'little')
    h = int.from_bytes(hashlib.sha512(r + public + message).digest(), 'little') % L
    x, y = multiply(s, BASE), add(point(r), multiply(h, point(public)))
    return len(signature) == 64 and s < L and all((x[i] * y[2] - y[i] * x[2]) % P == 0 for i in (0, 1))

# Notes. A key is (name, id, type, public key). Type 1 signs notes, type 4 cosigns checkpoints; others are ignored.
def parse_vkey(text):
    name, key_id, key = text.split('+', 2)
    key, own_id = decode(key), sha256(name.encode() + b'\n' + decode(key))[:4].hex()
    require(key[0] not in (1, 4) or (own_id == key_id and len(key) == 33), 'a vkey does not have its id')
    return name, bytes.fromhex(key_id), key[0], key[1:]
def verify_signature(key, message, signature):
    name, _, kind, public = key
    if kind == 4:
        seconds, signature = int.from_bytes(signature[:8], 'big'), signature[8:]
        require(seconds < 253402300800, 'a cosignature after the year 9999')
        message = b'cosignature/v1\ntime %d\n' % seconds + message
        print('cosigned:', time.strftime('at %Y-%m-%d %H:%M:%S UTC', time.gmtime(seconds)))
    require(ed25519(public, message, signature), f'the signature of {name} is wrong')
    files = ('key', bytes.fromhex('302a300506032b6570032100') + public), ('text', message), ('sig', signature)
    copies = ''.join(f' && echo {encode(data)} | base64 -d >$d/{file}' for file, data in files)
    print('signed: by', plain(name) + '; for a second opinion run:\n  d=$(mktemp -d)' + copies, end='')
    print(' && openssl pkeyutl -verify -pubin -keyform DER -inkey $d/key -rawin -in $d/text -sigfile $d/sig')
def open_note(note, keys):
    """-> text, keys that signed. Raises when a signature of a known key is wrong, or none is there."""
    require(note.endswith('\n') and not re.search('[\0-\t\x0b-\x1f]', note), 'not a note')
    (text, _, lines), good = note[:-1].rpartition('\n\n'), []
    require(lines.count('\n') < 100, 'more than 100 signatures')
    for line in lines.split('\n'):
        match = re.fullmatch(r'\u2014 ([^\s+]+) ([^ ]+)', line)
        data = decode(match[2]) if match else b''
        require(len(data) > 4, 'not a signature line: ' + ascii(line))
        for key in [key for key in keys if key[:2] == (match[1], data[:4]) and key[2] in (1, 4)]:
            verify_signature(key, (text + '\n').encode(), data[4:])
            good.append(key)
    require(good, 'no known key signed it')
    return text + '\n', good
def open_checkpoint(note, policy):
    """-> size, root. Raises unless a log of the policy signed and the quorum of the policy cosigned."""
    logs, witnesses, groups, quorum = [], {}, {}, None
    for word, *rest in filter(None, (re.findall('[^ \t]+', line) for line in policy.split('\n'))):
        if word == 'log': logs.append(parse_vkey(rest[0]))
        elif word == 'witness': witnesses[rest[0]] = parse_vkey(rest[1])
        elif word == 'group': groups[rest[0]] = {'any': 1, 'all': len(rest) - 2}.get(rest[1]) or int(rest[1]), rest[2:]
        elif word == 'quorum' and not quorum: quorum = rest[0]
        else: require(word[0] == '#', 'not a line of a policy: ' + ' '.join([word] + rest))
    text, good = open_note(note, logs + list(witnesses.values()))
    match = re.fullmatch('(.+)\n(0|[1-9][0-9]*)\n(.{44})\n(?:.+\n)*', text)
    require(match and any(key in logs and key[0] == match[1] for key in good), 'no checkpoint of a known log')
    cosigned = {name for name, key in witnesses.items() if key in good}
    for name, (threshold, members) in groups.items():
        if len(cosigned.intersection(members)) >= threshold: cosigned.add(name)
    require(quorum == 'none' or quorum in cosigned, f'too few witnesses cosigned: the policy wants {quorum}')
    print('anchored:', 'cosigned by ' + plain(', '.join(sorted(cosigned))) if cosigned else 'by no witness')
    return int(match[2]), decode(match[3])

# The tree. A leaf's data is the hash of an event, which is the hash of the hash before it and its header.
def node(left, right): return sha256(b'\1' + left + right)
def root_of(start, end, leaves, hashes):
    """The root, from some leaves (index, hash), the last one first, and the hashes of the largest subtrees between."""
    if not leaves or leaves[-1][0] >= end: return next(hashes, b'')
    if end - start == 1: return leaves.pop()[1]
    middle = start + 2**((end - start - 1).bit_length() - 1)
    left = root_of(start, middle, leaves, hashes)
    return node(left, root_of(middle, end, leaves, hashes))
def is_included(index, size, leaf, proof, root):
    at, last = index, size - 1
    for sibling in proof:
        if last == 0 or len(sibling) != 32: return False
        is_right = at % 2 or at == last
        leaf = node(sibling, leaf) if is_right else node(leaf, sibling)
        while is_right and at and at % 2 == 0: at, last = at // 2, last // 2
        at, last = at // 2, last // 2
    return 0 <= index < size and last == 0 and leaf == root and len(root) == 32
def check_proof(text, policy, digest=None):
    head, _, checkpoint = text.partition('\n\n')
    match = re.fullmatch('c2sp.org/tlog-proof@v1\n(?:extra (.*)\n)?index (0|[1-9][0-9]*)((?:\n.+)*)', head)
    require(match, 'not a .tlog-proof')
    extra, index, proof = decode(match[1] or ''), int(match[2]), [decode(line) for line in match[3].split('\n')[1:]]
    size, root = open_checkpoint(checkpoint, policy)
    event = unhex(digest) if digest else sha256(extra)
    require(is_included(index, size, sha256(b'\0' + event), proof, root), 'it does not place the event in the log')
    header = extra[32:].decode('utf8', 'replace') if event == sha256(extra) else ''
    print('included: event', index, 'of', size, plain(header))

# Packs
SIGNED = {'README.txt', 'blobs', 'checkpoint', 'events.ndjson', 'hashes.txt', 'policy.txt', 'verify.py'}
def canonical(value): return json.dumps(value, sort_keys=True, separators=(',', ':'), ensure_ascii=False).encode()
def bodies_in(fact, stream):
    """The bodies that an erasure fact of a stream names. Of an encrypted fact none is known."""
    try:
        fact = json.loads(fact)
        return {(stream, one['revision'], one['bodyHash'], fact['reason']) for one in fact['bodies']}
    except Exception: return set()
def check_event(event, heads, names, said, shown):
    """The event's hash must follow from its header and the hash before it, its body's hash from salt and body.
    `said` gets a body that the event calls erased, `shown` the bodies that an erasure fact names."""
    header, stream, revision = event['header'], event['header']['stream'], event['header']['revision']
    (last, before, _), heads[stream] = heads.get(stream, (-1, '0' * 64, 0)), (revision, event['hash'], event['index'])
    if revision != last + 1: before = event.get('previous')
    require(revision > last and before, 'the event before it is missing')
    require(sha256(unhex(before) + canonical(header)).hex() == event['hash'], 'its hash does not follow from it')
    salt, body, digest = decode(event['salt'] or ''), decode(event['body'] or ''), header['body']['hash']
    blob = digest
    if 'absent' in event:
        absent, reason, blob = event['absent'], event['absent'].get('reason'), None
        is_erased = isinstance(reason, str) and absent == {'why': 'erased', 'reason': reason}
        if is_erased: said.append((stream, revision, digest, reason))
        is_reason = event['body'] is None and (is_erased or absent == {'why': 'withheld'})
        require(is_reason, 'it does not say why its body is absent')
    elif event['body'] is not None:
        is_cut_right = (len(salt), len(body)) == (16, header['body']['size'])
        require(is_cut_right and sha256(salt + body).hex() == digest, 'its body is not the sealed one')
        is_outcome = header['type'] in ('tool_call_end', 'late_outcome')
        blob = is_outcome and json.loads(body).get('attachment', {}).get('hash')
        if header['type'] == 'erased': shown.update(bodies_in(body, stream))
    require(not blob or 'blobs/' + blob in names, 'its body or whole result is missing without a reason')
def check_pack(names, load, policy):
    heads, leaves, last, faults, said, shown = {}, [], (-1, -1), [], [], set()
    for number, line in enumerate(load('events.ndjson'), 1):
        name = f'line {number}'
        try:
            event = json.loads(line)
            require(line == canonical(event) + b'\n', 'not a line of canonical JSON')
            name += f", event {event['index']} ({event['header']['stream']}@{event['header']['revision']})"
            before, last = last, (event['index'], event['position'])
            require(last[0] > before[0] and last[1] > before[1], 'it is out of order')
            leaves.append((last[0], sha256(b'\0' + unhex(event['hash']))))
            check_event(event, heads, names, said, shown)
        except Exception as error: faults.append(f'{name}: {why(error)}')
    for name in names:
        if name[:6] == 'blobs/' and sha256(load(name).read()).hex() != name[6:]: faults.append(name + ' is altered')
    print(f'chained: {len(leaves)} events of {len(heads)} streams; {len(faults)} faults')
    size, root = open_checkpoint(load('checkpoint').read().decode(), policy)
    print(f'included: {len(leaves)} of {size} events of the log')
    *lines, rest = (load('hashes.txt').read().decode() if 'hashes.txt' in names else '').split('\n')
    require(rest == '' and all(len(decode(line)) == 32 for line in lines), 'a line of hashes.txt is not a hash')
    hashes, leaves, tail = map(decode, lines), leaves[::-1], size
    for index, _ in leaves: tail = index if index == tail - 1 else tail
    endless = sum(index < tail for _, _, index in heads.values())
    unshown = sum(body not in shown for body in said)
    if unshown: print('UNPROVED: bodies only said to be erased, without an erasure fact in the pack:', unshown)
    if endless: print('UNPROVED: streams that may go on after their last event in the pack:', endless, 'of', len(heads))
    beside = sorted({name.split('/')[0] for name in names} - SIGNED)
    if beside: print('UNPROVED: files beside the events, which nothing signs:', plain(', '.join(beside)))
    if root_of(0, size, leaves, hashes) != root or leaves or list(hashes):
        faults.append('the checkpoint is of other events than those of the pack')
    for fault in faults: print('FAULT:', plain(fault))
    require(not faults, f'{len(faults)} faults')
class Unreadable(Exception): pass
def open_file(path):
    try: return open(path, 'rb')
    except OSError as error: raise Unreadable(f'{path} cannot be read: {error.strerror}; nothing was checked')
def open_tar(path):
    file = open_file(path)
    is_proof = file.read(19) == b'c2sp.org/tlog-proof' or str(path).endswith('.tlog-proof')
    file.seek(0)
    try: return tarfile.open(fileobj=file)
    except tarfile.TarError:
        hint = '; it is a proof: verify.py proof FILE POLICY' if is_proof else ', which is a folder or a tar file'
        raise ValueError(f'{path} is no pack{hint}')
def open_pack(path):
    """-> names of the files, a function that opens one."""
    if pathlib.Path(path).is_dir():
        files = {one.relative_to(path).as_posix(): one for one in pathlib.Path(path).rglob('*') if one.is_file()}
        return set(files), lambda name: files[name].open('rb')
    tar = open_tar(path)
    entries = [(str(pathlib.PurePosixPath(one.name)), one) for one in tar if one.isfile()]
    require(len(dict(entries)) == len(entries), 'a file is there twice')
    return set(dict(entries)), lambda name, files=dict(entries): tar.extractfile(files[name])
def main(command, *given):
    def read(path): return open_file(path).read().decode()
    if len(given) < {'note': 1, 'proof': 2}.get(command, 0): return print(__doc__) or 2
    try:
        if command == 'note': print(open_note(read(given[0]), [parse_vkey(key) for key in given[1:]])[0], end='')
        elif command == 'proof': check_proof(read(given[0]), read(given[1]), *given[2:])
        else:
            names, load = open_pack(command)
            print('policy:', given[0] if given else 'of the pack; compare its keys with keys from another source')
            check_pack(names, load, read(given[0]) if given else load('policy.txt').read().decode())
    except Unreadable as error: return print(plain(str(error))) or 2
    except Exception as error: return print('INVALID:', plain(why(error))) or 1
    return print('VALID') or 0
if __name__ == '__main__': sys.exit(main(*sys.argv[1:]) if sys.argv[1:] else print(__doc__) or 2)
