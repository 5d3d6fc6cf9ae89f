import fc from 'fast-check'
import { ERASED_FACT } from '../../domain/log/erased.ts'
import type { PackedEvent } from '../../domain/log/proof/pack.ts'
import { ASKED, logOf, type Pack, packedEvents, packOf } from './packs.ts'
import { cosigner, logSigner } from './proof-keys.ts'

// Packs of small logs, and packs that somebody changed afterwards.

const signers = { log: logSigner('log.example'), witness: cosigner('w.example') }

/** Changes an element of a list. `a`, `b`: random numbers. */
type Change = (lines: string[], a: number, b: number) => string[]

const edited = (line: string, change: (event: Record<string, never> & { header: object }) => object): string =>
  JSON.stringify(change(JSON.parse(line)))

const member =
  (name: string, value: (old: never, b: number) => unknown): Change =>
  (lines, a, b) =>
    lines.with(
      a,
      edited(lines[a]!, (event) => ({ ...event, [name]: value(event[name] as never, b) })),
    )

const flippedBase64 = (old: string | null, b: number) => {
  const bytes = Buffer.from(old ?? 'AAAA', 'base64')
  if (bytes.length === 0) return 'AAAA'
  bytes[b % bytes.length]! ^= 1 << (b % 8)
  return bytes.toString('base64')
}

/** A flipped bit, or a replaced character, in a text. */
const flippedText: (text: string, a: number, b: number) => string = (text, a, b) =>
  text === '' ? 'x' : text.slice(0, a % text.length) + '0aA=\n{"—9'[b % 9] + text.slice((a % text.length) + 1)

/** A line without its body. `absent`: why. */
const emptied =
  (absent: (b: number) => unknown): Change =>
  (lines, a, b) =>
    lines.with(
      a,
      edited(lines[a]!, ({ absent: _, body: __, hash, header, index, position, previous, salt: ___ }) => ({
        absent: absent(b),
        body: null,
        ...{ hash, header, index, position },
        ...(previous !== undefined && { previous }),
        salt: null,
      })),
    )

const NO_REASONS = [
  ...[true, 1, 'withheld', null, [], {}],
  ...[{ why: 'lost' }, { why: 'erased' }, { reason: 1, why: 'erased' }, { reason: 'x', why: 'withheld' }],
]

const LINE_CHANGES: Readonly<Record<string, Change>> = {
  edit: (lines, a, b) =>
    lines.with(
      a,
      edited(lines[a]!, (event) => ({ ...event, header: { ...event.header, commandId: `forged-${b}` } })),
    ),
  type: (lines, a, b) =>
    lines.with(
      a,
      edited(lines[a]!, (e) => ({ ...e, header: { ...e.header, revision: b } })),
    ),
  swap: (lines, a, b) => lines.with(a, lines[b % lines.length]!).with(b % lines.length, lines[a]!),
  drop: (lines, a) => lines.toSpliced(a, 1),
  insert: (lines, a, b) => lines.toSpliced(b % (lines.length + 1), 0, lines[a]!),
  body: member('body', flippedBase64),
  salt: member('salt', flippedBase64),
  shift: (lines, a) =>
    lines.with(
      a,
      edited(lines[a]!, (event) => {
        const [salt, body] = [event.salt, event.body].map((text) => Buffer.from(String(text ?? ''), 'base64'))
        const moved = Buffer.concat([salt!, body!.subarray(0, 1)]).toString('base64')
        return { ...event, salt: moved, body: body!.subarray(1).toString('base64') }
      }),
    ),
  hash: member('hash', (_, b) => (b % 16).toString(16).repeat(64)),
  index: member('index', (_, b) => b),
  position: member('position', (_, b) => b),
  noBody: member('body', () => null),
  absent: emptied(() => ({ why: 'withheld' })),
  relabel: emptied(() => ({ reason: 'forged', why: 'erased' })),
  noReason: emptied((b) => NO_REASONS[b % NO_REASONS.length]),
  characters: (lines, a, b) => lines.with(a, flippedText(lines[a]!, b, a + b)),
}

const chosen = <T>(list: readonly T[], seed: number): T[] => list.filter((_, n) => (seed >> (n % 30)) % 2 === 0)

/** A pack and the name of its change; `honest` when nothing was changed. */
export const anyPack: fc.Arbitrary<{ readonly pack: Pack; readonly change: string }> = fc
  .record({
    turns: fc.array(fc.nat(2), { minLength: 1, maxLength: 12 }),
    text: fc.string({ maxLength: 5 }),
    seed: fc.nat(),
    isWhole: fc.boolean(),
    change: fc.constantFrom(
      'honest',
      'note',
      'treeHash',
      'moreHashes',
      'noHashes',
      'blob',
      'noBlob',
      'tail',
      ...Object.keys(LINE_CHANGES),
    ),
    a: fc.nat(10_000),
    b: fc.nat(10_000),
  })
  .map(({ turns, text, seed, isWhole, change, a, b }) => {
    const log = logOf(turns, [text], true)
    const at = (stream: string, revision: number) =>
      log.events.find(({ header }) => header.stream === stream && header.revision === revision)
    const all = packedEvents(log).map((one): PackedEvent => {
      const { stream, revision } = one.event.header
      const before = at(stream, revision - 1)
      const isErased = at(stream, revision + 1)?.header.type === ERASED_FACT
      return {
        ...one,
        ...(isErased && { body: null, salt: null, absent: ASKED }),
        ...(!isWhole && before !== undefined && { previous: before.hash }),
      }
    })
    const kept = isWhole ? all : chosen(all, seed)
    const packed = change === 'tail' ? withoutTail(kept, a) : kept
    const pack = packOf(log, packed, signers, !isWhole || change === 'tail')
    return { pack: changed(pack, change, a, b), change }
  })

/** Without the last events of a stream. */
function withoutTail(packed: readonly PackedEvent[], a: number): readonly PackedEvent[] {
  const { header } = packed[a % packed.length]?.event ?? {}
  return packed.filter(({ event }) => event.header.stream !== header?.stream || event.header.revision < header.revision)
}

function changed(pack: Pack, change: string, a: number, b: number): Pack {
  const lineChange = LINE_CHANGES[change]
  if (lineChange !== undefined)
    return withLines(pack, 'events.ndjson', (lines) => lineChange(lines, a % lines.length, b))
  if (change === 'blob' || change === 'noBlob') {
    const [[name, text] = [], ...others] = Object.entries(pack).filter(([name]) => name.startsWith('blobs/'))
    if (name === undefined || text === undefined) return pack
    const { [name]: _, ...rest } = pack
    return change === 'noBlob' ? rest : { ...rest, ...Object.fromEntries(others), [name]: flippedText(text, a, b) }
  }
  if (change === 'note') return { ...pack, checkpoint: flippedText(pack.checkpoint!, a, b) }
  const { 'hashes.txt': hashes, ...rest } = pack
  if (hashes === undefined || change === 'honest' || change === 'tail') return pack
  if (change === 'noHashes') return rest
  if (change === 'moreHashes')
    return { ...pack, 'hashes.txt': hashes + (hashes.split('\n')[0] || '=') + '\n'.repeat(b % 2) }
  return { ...pack, 'hashes.txt': flippedText(hashes, a, b) }
}

function withLines(pack: Pack, name: string, change: (lines: string[]) => string[]): Pack {
  const lines = pack[name]!.split('\n').slice(0, -1)
  return lines.length === 0
    ? pack
    : {
        ...pack,
        [name]: change(lines)
          .map((line) => `${line}\n`)
          .join(''),
      }
}
