import { execFileSync } from 'node:child_process'
import { createHash, sign } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canonicalHeader } from '../../../../domain/log/canonical.ts'
import { formatNote, formatVkey, openNote, signatureLine } from '../../../../domain/log/proof/note.ts'
import { packedEventLine, VERIFIERS } from '../../../../domain/log/proof/pack.ts'
import { formatProofFile } from '../../../../domain/log/proof/proof-file.ts'
import { eventLeaf } from '../../../../domain/log/proof/tree.ts'
import { verifyInclusion } from '../../../../domain/log/proof/tree-proof.ts'
import { anyHeader, headerText } from '../../../support/log/headers.ts'
import { flipped, naiveRoot } from '../../../support/merkle.ts'
import { logOf, type Pack, packedEvents, packOf, writePack } from '../../../support/packs.ts'
import { cosigner, keyName, logSigner } from '../../../support/proof-keys.ts'
import { property } from '../../../support/property.ts'
import { startPython, VERIFY_PY } from '../../../support/python.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

describe('verify.py', { tags: ['python3'] }, () => {
  let folder: string
  let python: ReturnType<typeof startPython>
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'keepup-packs-'))
    python = startPython()
  })
  afterAll(async () => {
    await python.end()
    rmSync(folder, { recursive: true })
  })

  const file = (text: string) => {
    const path = join(mkdtempSync(join(folder, 'file-')), 'file')
    writeFileSync(path, text)
    return path
  }
  const verify = (pack: Pack, ...more: string[]) => python.run(writePack(folder, pack), ...more)

  test('verifies the signatures of RFC 8032, and none with a flipped bit', async () => {
    const signatures = [
      [
        'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
        '',
        'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
      ],
      [
        '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
        '72',
        '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
      ],
    ] as const
    for (const [key, message, signature] of signatures) {
      expect(await python.call('ed25519', key, message, signature)).toBe(true)
      for (const bit of [0, 100, 255, 256, 400, 511])
        expect(await python.call('ed25519', key, message, hex(flipped(Buffer.from(signature, 'hex'), bit)))).toBe(false)
      expect(await python.call('ed25519', key, `${message}00`, signature)).toBe(false)
      // The same signature with s + L is another text for the same equation.
      const s = BigInt(`0x${Buffer.from(signature.slice(64), 'hex').reverse().toString('hex')}`)
      const more = (s + 2n ** 252n + 27742317777372353535851937790883648493n).toString(16).padStart(64, '0')
      const malleable = signature.slice(0, 64) + Buffer.from(more, 'hex').reverse().toString('hex')
      expect(await python.call('ed25519', key, message, malleable)).toBe(false)
    }
  })

  test('accepts one encoding of a point: a coordinate below P, and no sign of zero', async () => {
    // Of the point (0, 1) each equation of these signatures is true.
    const one = `01${'00'.repeat(31)}`
    const verifies = (key: string, r: string) => python.call('ed25519', key, '', r + '00'.repeat(32))
    expect(await verifies(one, one)).toBe(true)
    for (const other of [`01${'00'.repeat(30)}80`, `ee${'ff'.repeat(30)}7f`]) {
      expect(await verifies(other, one)).toBe(false)
      expect(await verifies(one, other)).toBe(false)
    }
  })

  test('agrees with the vectors of transparency-dev/merkle and with our roots', async () => {
    const { hashes, inclusion } = JSON.parse(readFileSync(join(import.meta.dirname, 'merkle-proofs.gen.json'), 'utf8'))
    const at = (n: number) => hex(Buffer.from(hashes[n], 'base64'))
    for (const [index, size, leaf, root, proof, valid, name] of inclusion)
      expect([name, await python.call('included', index, size, at(leaf), proof.map(at), at(root))]).toEqual([
        name,
        valid,
      ])
    for (const count of [1, 2, 3, 7, 8, 9, 255, 256, 257, 1000]) {
      const data = Array.from({ length: count }, (_, n) => Buffer.from(`${n}`))
      const leaves = data.map((one) => hex(naiveRoot([one])))
      expect(await python.call('root', leaves)).toBe(hex(naiveRoot(data)))
    }
  })

  test('has the canonical text of every header', async () => {
    await fc.assert(
      fc.asyncProperty(anyHeader, async (header) => {
        const members = Object.entries(header).reverse()
        expect(await python.call('canonical', JSON.stringify(Object.fromEntries(members)))).toBe(
          canonicalHeader(header),
        )
      }),
      property(500),
    )
  })

  test('accepts whole packs and parts of a log, with hostile names and texts', async () => {
    const turns = fc.array(fc.nat(2), { minLength: 1, maxLength: 20 })
    const texts = fc.array(headerText, { maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(turns, texts, keyName, fc.nat(), fc.boolean(), async (turns, texts, name, seed, isWhole) => {
        const log = logOf(turns, texts)
        const all = packedEvents(log)
        const before = (stream: string, revision: number) =>
          all.find(({ event: { header } }) => header.stream === stream && header.revision === revision - 1)!
        const chosen = all
          .filter((_, n) => isWhole || (seed >> (n % 30)) % 2 === 0)
          // Each event of a part can name the hash before it.
          .map((one) => {
            const { stream, revision } = one.event.header
            return isWhole || revision === 0 ? one : { ...one, previous: before(stream, revision).event.hash }
          })
          .map((one, n) =>
            n % 5 === 3 ? { ...one, body: null, salt: null, absent: { why: 'withheld' as const } } : one,
          )
        const signers = { log: logSigner(name), witness: cosigner(name) }
        const { code, shown } = await verify(packOf(log, chosen, signers, !isWhole))
        expect({ code, shown }).toEqual({ code: 0, shown: expect.stringMatching(/VALID\n$/) })
        expect(shown).toContain(`${chosen.length} events of`)
        expect(shown).toContain('; 0 faults')
        expect(shown).toContain('anchored: cosigned by w\n')
        expect(shown).toContain(`included: ${chosen.length} of ${all.length} events of the log`)
      }),
      property(60),
    )
  })

  const log = logOf([0, 1, 0, 1, 1, 0, 2])
  const all = packedEvents(log)
  const signers = { log: logSigner('log.example'), witness: cosigner('w.example') }
  const whole = packOf(log, all, signers)
  const part = packOf(log, all.slice(0, 5), signers, true)
  const changeLine = (pack: Pack, at: number, change: (line: string) => string): Pack => {
    const lines = pack['events.ndjson']!.split('\n')
    return { ...pack, 'events.ndjson': lines.with(at, change(lines[at]!)).join('\n') }
  }
  const member = (name: string, value: unknown) => (line: string) =>
    JSON.stringify({ ...JSON.parse(line), [name]: value })
  const header = (change: object) => (line: string) => {
    const event = JSON.parse(line)
    return JSON.stringify({ ...event, header: { ...event.header, ...change } })
  }

  const event = 'event 3 (agent-a1@1): '
  const faults: [string, (line: string) => string, string][] = [
    ['another header', header({ commandId: 'x' }), `${event}its hash does not follow from it`],
    ['another revision', header({ revision: 5 }), `event 3 (agent-a1@5): `],
    ['another hash', member('hash', 'ab'.repeat(32)), `${event}`],
    ['an upper-case hash', (line) => member('hash', JSON.parse(line).hash.toUpperCase())(line), event],
    ['another body', member('body', Buffer.from('{}').toString('base64')), `${event}its body is not the sealed one`],
    ['another salt', member('salt', Buffer.alloc(16).toString('base64')), `${event}its body is not the sealed one`],
    ['no salt', member('salt', null), `${event}its body is not the sealed one`],
    ['a body with stray bits', member('body', 'e31='), `${event}base64 with stray bits`],
    ['another index', member('index', 9), 'event 4 (agent-a1@2): it is out of order'],
    ['an index as text', member('index', '3'), 'event 3 (agent-a1@1): '],
    ['another position', member('position', 0), `${event}it is out of order`],
    ['a name twice', (line) => line.replace('{', '{"hash":"x",'), 'line 4: not a line of canonical JSON'],
    ['a broken line', (line) => line.slice(1), 'line 4: '],
    ['deep brackets', () => '['.repeat(100_000), 'line 4: '],
    ['a number for an event', () => '7', 'line 4: '],
    ['a lone surrogate', header({ commandId: '\ud800' }), 'line 4: '],
  ]
  test.each(faults)('names an event with %s, in a whole pack and in a part', async (_, change, message) => {
    for (const pack of [whole, part]) {
      expect((await verify(pack)).code).toBe(0)
      const { code, shown } = await verify(changeLine(pack, 3, change))
      expect({ code, shown }).toEqual({ code: 1, shown: expect.stringContaining('FAULT: ') })
      expect(shown).toContain(message)
      expect(shown).not.toMatch(/^VALID$/m)
      // Lines of other streams are not accused.
      expect(shown).not.toMatch(/FAULT: line [1237]\b/)
    }
  })

  const drop = (pack: Pack, at: number) => ({
    ...pack,
    'events.ndjson': pack['events.ndjson']!.split('\n').toSpliced(at, 1).join('\n'),
  })
  const forgedLog = logOf([0, 1, 0, 1, 1, 0, 2], ['forged'])
  test.each<[string, Pack, string]>([
    ['a whole pack without its last event', drop(whole, 6), 'is of other events than those of the pack'],
    ['a whole pack without one event', drop(whole, 2), 'the event before it is missing'],
    [
      'events in another order',
      { ...whole, 'events.ndjson': whole['events.ndjson']!.split('\n').slice(0, 7).reverse().join('\n') },
      'it is out of order',
    ],
    [
      'a history that was sealed again',
      { ...whole, 'events.ndjson': packedEvents(forgedLog).map(packedEventLine).join('') },
      'other events',
    ],
    [
      'a part of a history that was sealed again',
      { ...part, 'events.ndjson': packedEvents(forgedLog).slice(0, 5).map(packedEventLine).join('') },
      'other events',
    ],
    [
      'a part without a hash',
      { ...part, 'hashes.txt': part['hashes.txt']!.split('\n').toSpliced(0, 1).join('\n') },
      'other events',
    ],
    ['a part with a hash too many', { ...part, 'hashes.txt': part['hashes.txt']!.repeat(2) }, 'other events'],
    ['a part with a gap', drop(part, 1), 'event 3 (agent-a1@1): '],
    ['a part whose hashes are gone', (({ 'hashes.txt': _, ...rest }) => rest)(part), 'is of other events'],
    [
      'a checkpoint of another log',
      { ...whole, checkpoint: packOf(log, all, { ...signers, log: logSigner('other.example') }).checkpoint! },
      'no checkpoint of a known log',
    ],
    ['a checkpoint of another size', { ...whole, checkpoint: whole.checkpoint!.replace('\n7\n', '\n8\n') }, 'is wrong'],
    [
      'a checkpoint without its witness',
      { ...whole, checkpoint: packOf(log, all, { log: signers.log }).checkpoint! },
      'too few witnesses cosigned',
    ],
    [
      'a checkpoint with a signature that is none',
      { ...whole, checkpoint: `${whole.checkpoint}x\n` },
      'not a signature line',
    ],
    [
      'an event whose whole result is missing',
      Object.fromEntries(Object.entries(whole).filter(([name]) => !name.startsWith('blobs/'))),
      'event 2 (agent-a0@1): its body or whole result is missing without a reason',
    ],
    ['no policy', (({ 'policy.txt': _, ...rest }) => rest)(whole), 'INVALID: policy.txt is missing\n'],
    [
      'a policy of other words',
      { ...whole, 'policy.txt': 'trust all\n' },
      'INVALID: not a line of a policy: trust all\n',
    ],
  ])('refuses %s', async (_, pack, message) => {
    const { code, shown } = await verify(pack)
    expect({ code, shown }).toEqual({ code: 1, shown: expect.stringContaining(message) })
    expect(shown).toMatch(/^INVALID: /m)
  })

  test('reads a pack from a tar file, with a policy of the verifier', async () => {
    const tar = join(folder, 'pack.tar.gz')
    execFileSync('tar', ['-czf', tar, '-C', writePack(folder, whole), '.'])
    expect(await python.run(tar)).toMatchObject({ code: 0, shown: expect.stringContaining('policy: of the pack') })
    expect((await python.run(tar, file(whole['policy.txt']!))).code).toBe(0)
    const strict = packOf(log, all, { ...signers, log: logSigner('log.example', 2) })['policy.txt']!
    expect(await python.run(tar, file(strict))).toMatchObject({ code: 1 })
    expect((await python.run(file('no tar'))).shown).toContain('INVALID')
  })

  test('verifies a proof file, of the event in its extra data or of a hash', async () => {
    const { event } = all[3]!
    const extra = Buffer.concat([Buffer.from(all[1]!.event.hash, 'hex'), Buffer.from(canonicalHeader(event.header))])
    const proof = { index: 3, proof: log.tree.inclusion(3), checkpoint: whole.checkpoint!, extra }
    const policy = file(whole['policy.txt']!)
    const run = (change: object, ...more: string[]) =>
      python.run('proof', file(formatProofFile({ ...proof, ...change })), policy, ...more)
    const good = await run({})
    expect(good).toMatchObject({ code: 0, shown: expect.stringContaining('included: event 3 of 7 {') })
    expect(good.shown).toContain(event.header.commandId)
    expect((await run({ extra: null }, event.hash)).code).toBe(0)
    expect((await run({}, event.hash)).code).toBe(0)
    // 64 characters that are no hex, spaces that Python's own reader of hex would skip, and upper case.
    for (const none of [
      `zz${event.hash.slice(2)}`,
      event.hash.replace(/../g, '$& ').slice(0, 64),
      event.hash.toUpperCase(),
    ]) {
      expect(await run({}, none)).toMatchObject({ code: 1, shown: expect.stringContaining('not 64 hex digits') })
      expect(() => eventLeaf(none)).toThrow('64 lower-case hex digits')
    }
    for (const wrong of [
      run({ extra: null }),
      run({}, all[2]!.event.hash),
      run({ index: 2 }),
      run({ extra: flipped(extra, 500) }),
    ])
      expect(await wrong).toMatchObject({
        code: 1,
        shown: expect.stringContaining('does not place the event in the log'),
      })
  })

  test('opens a note exactly when we do', async () => {
    const [own, witness] = [logSigner('a'), cosigner('a')]
    const text = 'a\n\nb\u2028c\u0085d\n'
    const note = formatNote(text, [signatureLine(own, text), signatureLine(witness, text, 9)])
    const opens = (note: string) => {
      try {
        return openNote(note, [own.key, witness.key]).text.length > 0
      } catch {
        return false
      }
    }
    const piece = fc.constantFrom(
      '',
      '\n',
      '\n\n',
      ' ',
      '\t',
      '\r',
      '—',
      '\u2028',
      '\u0085',
      '\ufeff',
      '=',
      'A',
      '+',
      '\u001f',
      '\u007f',
    )
    await fc.assert(
      fc.asyncProperty(fc.nat(note.length), fc.nat(2), piece, async (at, removed, added) => {
        const changed = note.slice(0, at) + added + note.slice(at + removed)
        const { code, shown } = await python.run('note', file(changed), formatVkey(own.key), formatVkey(witness.key))
        expect([changed, code === 0, shown]).toEqual([changed, opens(changed), shown])
      }),
      property(250),
    )
  })

  test('refuses a well signed note with control characters, as we do', async () => {
    const { key, privateKey } = logSigner('a')
    for (const text of ['a\tb\n', 'a\r\n', 'a\u001f\n']) {
      const signature = Buffer.concat([Buffer.from(key.id, 'hex'), sign(null, Buffer.from(text), privateKey)])
      const note = `${text}\n— a ${signature.toString('base64')}\n`
      expect(() => openNote(note, [key])).toThrow('control characters')
      expect(await python.run('note', file(note), formatVkey(key))).toMatchObject({ code: 1 })
    }
  })

  test('agrees with us about proofs with a flipped bit', async () => {
    const root = naiveRoot(log.events.map(({ hash }) => Buffer.from(hash, 'hex')))
    const leaf = (n: number) => naiveRoot([Buffer.from(log.events[n]!.hash, 'hex')])
    const proofs = log.events.map((_, n) => log.tree.inclusion(n))
    await fc.assert(
      fc.asyncProperty(fc.nat(6), fc.nat(8), fc.nat(9), fc.nat(300), async (of, index, size, bit) => {
        const proof = bit < 256 ? proofs[of]!.with(0, flipped(proofs[of]![0]!, bit)) : proofs[of]!
        const theirs = await python.call('included', index, size, hex(leaf(of)), proof.map(hex), hex(root))
        expect(theirs).toBe(verifyInclusion(index, size, leaf(of), proof, root))
      }),
      property(300),
    )
  })

  test('is the version whose SHA-256 the documentation has, and that keepup knows', () => {
    const sha256 = createHash('sha256').update(readFileSync(VERIFY_PY)).digest('hex')
    expect(VERIFIERS.at(-1)).toBe(sha256)
    expect(readFileSync(VERIFY_PY.replace('verify.py', 'proof.md'), 'utf8')).toContain(sha256)
  })

  test('prints commands of openssl that verify each signature', { tags: ['openssl'] }, async () => {
    const name = "a'b$(exit)`x`"
    const { shown } = await verify(packOf(log, all, { log: logSigner(name), witness: cosigner(name) }))
    const commands = shown.split('\n').filter((line) => line.includes('openssl pkeyutl'))
    expect(commands).toHaveLength(2)
    for (const command of commands) {
      const run = (line: string) =>
        execFileSync('sh', ['-c', `TMPDIR='${folder}'; export TMPDIR; ${line}`], { encoding: 'utf8', stdio: 'pipe' })
      expect(run(command)).toBe('Signature Verified Successfully\n')
      const other = command.replace(
        /echo \S+( \| base64 -d >\$d\/text)/,
        `echo ${Buffer.from('x').toString('base64')}$1`,
      )
      expect(() => run(other)).toThrow(expect.objectContaining({ stdout: 'Signature Verification Failure\n' }))
    }
  })

  test('ends with 0, 1, or 2 and its help', () => {
    const run = (...args: string[]) => {
      try {
        return [0, execFileSync('python3', [VERIFY_PY, ...args], { encoding: 'utf8', stdio: 'pipe' })]
      } catch (error) {
        const { status, stdout } = error as { status: number; stdout: string }
        return [status, stdout]
      }
    }
    expect(run(writePack(folder, whole))).toEqual([0, expect.stringMatching(/\nVALID\n$/)])
    expect(run(writePack(folder, drop(whole, 6)))).toEqual([1, expect.stringContaining('INVALID')])
    for (const args of [[], ['proof', file('x')], ['note']])
      expect(run(...args)).toEqual([2, expect.stringContaining('verify.py PACK [POLICY]')])
  })

  test('tells a file that is no pack, and one that cannot be read, from a broken pack', async () => {
    const proof = file('c2sp.org/tlog-proof@v1\nindex 0\n')
    const named = join(folder, 'named.tlog-proof')
    writeFileSync(named, '')
    for (const path of [proof, named])
      expect(await python.run(path)).toMatchObject({
        code: 1,
        shown: `INVALID: ${path} is no pack; it is a proof: verify.py proof FILE POLICY\n`,
      })
    const other = file('no tar')
    expect(await python.run(other)).toMatchObject({
      code: 1,
      shown: `INVALID: ${other} is no pack, which is a folder or a tar file\n`,
    })
    const missing = join(folder, 'none')
    const unread = { code: 2, shown: `${missing} cannot be read: No such file or directory; nothing was checked\n` }
    for (const args of [[missing], ['note', missing, 'key'], ['proof', missing, proof], ['proof', proof, missing]])
      expect(await python.run(...args)).toMatchObject(unread)
  })
})
