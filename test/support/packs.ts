import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TAR_END, tarHeader, tarPadding } from '../../api/operations/pack/tar.ts'
import type { RecordedEvent } from '../../domain/log/envelope.ts'
import { checkpointText } from '../../domain/log/proof/checkpoint.ts'
import { formatNote, type NoteSigner, signatureLine } from '../../domain/log/proof/note.ts'
import { type PackedEvent, packedEventLine, packedHashLine } from '../../domain/log/proof/pack.ts'
import { unknownSubtrees } from '../../domain/log/proof/partial-tree.ts'
import { formatPolicy } from '../../domain/log/proof/policy.ts'
import { edgeRoot, eventLeaf } from '../../domain/log/proof/tree.ts'
import { bodyHash } from '../../domain/log/seal.ts'
import { NEW, Sealer, type Tip, tipOf } from './log/sealing.ts'
import { naiveRoot, StoredTree } from './merkle.ts'

/** The files of a pack. */
export type Pack = Record<string, string>

/** The content of a blob: salt and whole result. */
const wholeResult = (n: number): string => `salt of 16 bytes, then the result of event ${n}`

/** The reason of each erasure in a log. */
export const ASKED = { why: 'erased', reason: 'asked for' } as const

/**
 * A log of events of several streams, of which some name a whole result. `turns`: the stream of each event, as a number.
 * `erasing`: some events are facts that the body before them in their stream was erased.
 */
export function logOf(turns: readonly number[], texts: readonly string[] = [], erasing = false) {
  const sealer = new Sealer()
  const tips = new Map<string, Tip>()
  const events: RecordedEvent[] = []
  for (const [n, turn] of turns.entries()) {
    const stream = `agent-a${turn}`
    const before = events.findLast(({ header }) => header.stream === stream)?.header
    const text = texts[n % texts.length] ?? 'x'
    const hash = bodyHash(Buffer.from(wholeResult(n)))
    // No fact erases an erasure fact.
    const named = before && before.type !== 'erased' && { revision: before.revision, bodyHash: before.body.hash }
    const draft =
      n % 4 === 2
        ? { type: 'tool_call_end', body: { attachment: { hash }, n } }
        : erasing && n % 4 === 3 && named
          ? { type: 'erased', body: { code: 'request', reason: ASKED.reason, bodies: [named] } }
          : { body: { n, text } }
    const batch = sealer.batch(stream, tips.get(stream) ?? NEW, [{ ...draft, header: { commandId: `c-${text}` } }])
    tips.set(stream, tipOf(batch))
    events.push({ ...batch[0]!, position: 3 * n + 1 })
  }
  const tree = new StoredTree()
  tree.append(...events.map(({ hash }) => eventLeaf(hash)))
  return { events, tree }
}

type Log = ReturnType<typeof logOf>

/** The packed form of each event of a log, with its body. */
export const packedEvents = ({ events }: Log): PackedEvent[] =>
  events.map((event, index) => {
    const { salt } = event.header.body as { salt?: string }
    // Without a salt in the header, the stored bytes begin with it.
    const sealed = Buffer.concat([Buffer.from(salt ?? '', 'hex'), event.body!])
    return { event, index, salt: sealed.subarray(0, 16), body: sealed.subarray(16) }
  })

interface Signers {
  readonly log: NoteSigner
  readonly witness?: NoteSigner
  readonly time?: number
}

/** The hashes of a log between packed events, as RFC 6962 defines them. */
function missingHashes({ events }: Log, packed: readonly PackedEvent[]): Uint8Array[] {
  const ends = [...packed.map(({ index }) => index), events.length]
  return ends.flatMap((end, n) =>
    unknownSubtrees([n === 0 ? 0 : ends[n - 1]! + 1, end], events.length).map(([from, to]) =>
      naiveRoot(events.slice(from, to).map(({ hash }) => Buffer.from(hash, 'hex'))),
    ),
  )
}

/** A pack of these events of a log. `isPart`: with the hashes between them. */
export function packOf(log: Log, packed: readonly PackedEvent[], signers: Signers, isPart = false): Pack {
  const { tree } = log
  const { log: signer, witness, time = 1_800_000_000 } = signers
  const text = checkpointText({ origin: signer.key.name, size: tree.edge.size, root: edgeRoot(tree.edge) })
  const lines = [signatureLine(signer, text), ...(witness ? [signatureLine(witness, text, time)] : [])]
  const witnesses = witness ? [{ name: 'w', key: witness.key }] : []
  return {
    'events.ndjson': packed.map(packedEventLine).join(''),
    checkpoint: formatNote(text, lines),
    'policy.txt': formatPolicy({ logs: [{ key: signer.key }], witnesses, groups: [], quorum: witness ? 'w' : null }),
    ...Object.fromEntries(
      packed
        .filter(({ index, body }) => index % 4 === 2 && body !== null)
        .map(({ index }) => [`blobs/${bodyHash(Buffer.from(wholeResult(index)))}`, wholeResult(index)]),
    ),
    ...(isPart && { 'hashes.txt': missingHashes(log, packed).map(packedHashLine).join('') }),
  }
}

/** A pack as the file that `keepup pack` writes. */
export async function* tarOf(pack: Pack): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (const [name, text] of Object.entries(pack)) {
    const bytes = Buffer.from(text)
    yield Buffer.from(tarHeader(name, bytes.length, 0))
    yield bytes
    yield Buffer.alloc(tarPadding(bytes.length).length)
  }
  yield TAR_END
}

/** Writes a pack into a new folder below `parent`. */
export function writePack(parent: string, pack: Pack): string {
  mkdirSync(parent, { recursive: true })
  const folder = mkdtempSync(join(parent, 'pack-'))
  for (const name of ['blobs', 'tables']) mkdirSync(join(folder, name))
  for (const [name, text] of Object.entries(pack)) writeFileSync(join(folder, name), text)
  return folder
}
