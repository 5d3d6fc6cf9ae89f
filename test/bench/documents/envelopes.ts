import { LoroDoc, type LoroMap, type LoroText, type PeerID } from 'loro-crdt'
import { loroDocuments } from '../../../adapters/loro/documents.ts'
import { parseXml } from '../../../adapters/loro/xml/parse.ts'
import { judge } from '../../../domain/document/envelope/judge.ts'
import { contextHash } from '../../../domain/document/model/context-hash.ts'
import type { OpenDocument } from '../../../domain/ports/index.ts'
import { type Figure, micros, rate } from '../figure.ts'
import { median, timed } from '../measure.ts'
import { bareEdit, blockOf, GATEWAY, sentence } from './history.ts'

const TIMES = 500

/** Envelopes of one replacement each, beside bare Loro: the same edits by hand, and the import of their updates. */
export async function envelopes(history: number, snapshot: Uint8Array, rounds: number): Promise<Figure[]> {
  const document = await loroDocuments.open({ gatewayPeer: GATEWAY, snapshot, updates: [] })
  const bare = replica(snapshot)
  const reader = replica(snapshot)
  const texts = Array.from(
    { length: 200 },
    (_, i) => (bare.getMovableList('blocks').get(i) as LoroMap).get('text') as LoroText,
  )
  const took = {
    wall: [] as number[],
    ours: [] as number[],
    edit: [] as number[],
    import: [] as number[],
    bytes: [] as number[],
  }
  for (let round = 0, n = history; round <= rounds; round++, n += TIMES) {
    const updates: Uint8Array[] = []
    const ours = await timed(() => {
      for (let i = 0; i < TIMES; i++) updates.push(envelope(document, n + i))
    })
    const edited = await timed(() => {
      for (let i = 0; i < TIMES; i++) {
        const from = bare.oplogVersion()
        bareEdit(texts[(n + i) % 200]!, n + i)
        bare.commit()
        bare.export({ mode: 'update', from })
      }
    })
    const imported = await timed(() => {
      for (const update of updates) reader.import(update)
    })
    if (reader.toJSON().blocks.length !== 200 || document.blocks().length !== 200) throw new Error('blocks were lost')
    if (round === 0) continue
    took.wall.push(ours.ms / TIMES)
    took.ours.push(ours.cpuMs / TIMES)
    took.edit.push(edited.cpuMs / TIMES)
    took.import.push(imported.cpuMs / TIMES)
    took.bytes.push(updates.reduce((sum, { length }) => sum + length, 0) / TIMES)
  }
  document.close()
  const [wall, ours, edit, load, bytes] = Object.values(took).map(median) as [number, number, number, number, number]
  const at = `at ${history.toLocaleString('en-US')} edits`
  return [
    { name: `envelopes ${at}`, ours: rate(1000 / wall, 'envelopes'), floor: '', value: 1000 / wall, goal: null },
    {
      name: `CPU of an envelope ${at}`,
      ours: micros(ours * 1000),
      floor: `${micros(edit * 1000)} by hand`,
      value: ours / edit,
      goal: null,
    },
    {
      name: `beside Loro's import ${at}`,
      ours: micros(ours * 1000),
      floor: `${micros(load * 1000)} import`,
      value: ours / load,
      goal: null,
    },
    { name: `bytes of an update ${at}`, ours: `${Math.round(bytes)} B`, floor: '', value: bytes, goal: null },
  ]
}

function replica(snapshot: Uint8Array): LoroDoc {
  const doc = LoroDoc.fromSnapshot(snapshot)
  doc.setPeerId(GATEWAY as PeerID)
  return doc
}

/** All that one request costs without a log: its checks, the edit on the replica, the update. */
function envelope(document: OpenDocument, n: number): Uint8Array {
  const id = blockOf(n)
  const span = document.span(id)
  if (span.kind !== 'block') throw new Error(`${id} is ${span.kind}`)
  const body = {
    doc_frontier: document.frontier,
    client_request_id: `r${n}`,
    ops_xml: `<replace_spans annotation="bench"><span span_id="${id}">${sentence(n)}</span></replace_spans>`,
    preconditions: [{ span_id: id, if_match_context_hash: contextHash(id, span.text) }],
  }
  const verdict = judge(body, { parse: parseXml, answered: () => null, document, scope: ['d1', 'bench'] })
  if (verdict.kind !== 'apply') throw new Error(JSON.stringify(verdict.answer.body))
  const change = document.edit(verdict.edits)
  change.keep()
  return change.update
}
