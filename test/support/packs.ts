import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TAR_END, tarHeader, tarPadding } from '../../api/operations/pack/tar.ts'
import type { RecordedEvent } from '../../domain/log/envelope.ts'
import { checkpointText } from '../../domain/log/proof/checkpoint.ts'
import { formatNote, type NoteSigner, signatureLine } from '../../domain/log/proof/note.ts'
import { type PackedEvent, packedEventLine, packedProofLine } from '../../domain/log/proof/pack.ts'
import { formatPolicy } from '../../domain/log/proof/policy.ts'
import { edgeRoot, eventLeaf } from '../../domain/log/proof/tree.ts'
import { NEW, Sealer, type Tip, tipOf } from './log/sealing.ts'
import { StoredTree } from './merkle.ts'

/** The files of a pack. */
export type Pack = Record<string, string>

/** A log of events of several streams. `turns`: the stream of each event, as a number. */
export function logOf(turns: readonly number[], texts: readonly string[] = []) {
  const sealer = new Sealer()
  const tips = new Map<string, Tip>()
  const events: RecordedEvent[] = turns.map((turn, n) => {
    const stream = `agent-a${turn}`
    const body = { n, text: texts[n % texts.length] ?? 'x' }
    const batch = sealer.batch(stream, tips.get(stream) ?? NEW, [{ body, header: { commandId: `c-${body.text}` } }])
    tips.set(stream, tipOf(batch))
    return { ...batch[0]!, position: 3 * n + 1 }
  })
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

export interface Signers {
  readonly log: NoteSigner
  readonly witness?: NoteSigner
  readonly time?: number
}

/** A pack of these events of a log; of the whole log without `proofs`. */
export function packOf({ tree }: Log, packed: readonly PackedEvent[], signers: Signers, proofs = false): Pack {
  const { log, witness, time = 1_800_000_000 } = signers
  const text = checkpointText({ origin: log.key.name, size: tree.edge.size, root: edgeRoot(tree.edge) })
  const lines = [signatureLine(log, text), ...(witness ? [signatureLine(witness, text, time)] : [])]
  const witnesses = witness ? [{ name: 'w', key: witness.key }] : []
  return {
    'events.ndjson': packed.map(packedEventLine).join(''),
    checkpoint: formatNote(text, lines),
    'policy.txt': formatPolicy({ logs: [{ key: log.key }], witnesses, groups: [], quorum: witness ? 'w' : null }),
    ...(proofs && {
      'proofs.ndjson': packed.map(({ index }) => packedProofLine(index, tree.inclusion(index))).join(''),
    }),
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
  for (const [name, text] of Object.entries(pack)) writeFileSync(join(folder, name), text)
  return folder
}
