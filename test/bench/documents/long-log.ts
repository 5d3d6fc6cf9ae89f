import { loroDocuments } from '../../../adapters/loro/documents.ts'
import { commandOf } from '../../../domain/document/runtime/answers.ts'
import { receivedOf } from '../../../domain/document/runtime/received-body.ts'
import { document, documentStream } from '../../../domain/document/stream/aggregate.ts'
import type { DocumentCommand } from '../../../domain/document/stream/decide.ts'
import type { DocumentState } from '../../../domain/document/stream/state.ts'
import type { EventLog, Head, Random } from '../../../domain/ports/index.ts'
import { headOfEvent } from '../../../domain/stream/runtime/history.ts'
import { chained, type Unsealed, unsealed } from '../../../domain/stream/sealing.ts'
import { blockOf, GATEWAY, sentence } from './history.ts'

const AT_ONCE = 200
const BY = { kind: 'user', id: 'bench' } as const

/** A request like those that are measured. */
export const requestOf = (n: number, frontier: string, hash: string) => ({
  doc_frontier: frontier,
  client_request_id: `r${n}`,
  ops_xml: `<replace_spans annotation="bench"><span span_id="${blockOf(n)}">${sentence(n)}</span></replace_spans>`,
  preconditions: [{ span_id: blockOf(n), if_match_context_hash: hash }],
})

/** Writes the stream of a document whose envelopes made these updates, many to an append: only its making is short. */
export async function writeLong(
  log: EventLog,
  random: Random,
  id: string,
  updates: readonly Uint8Array[],
): Promise<void> {
  const stream = documentStream(id)
  let [head, state, revision]: [Head | null, DocumentState | null, number] = [null, null, -1]
  let waiting: Unsealed[] = []
  const now = Date.now()
  const append = async () => {
    const sealed = chained(stream, head, waiting, new Set())
    await log.append(stream, head?.revision ?? -1, sealed, 60_000)
    head = headOfEvent(sealed.at(-1)!)
    waiting = []
  }
  const add = (command: DocumentCommand, commandId: string) => {
    const context = { now, by: BY, commandId, salt: () => random.bytes(16), jitter: () => 0 }
    const decision = document.decide(state, { stream, revision }, command, context)
    waiting.push(...unsealed(document, decision.drafts, {}))
    state = decision.state
    revision += decision.drafts.length
  }
  for (const [n, update] of updates.entries()) {
    const [range] = loroDocuments.operations(update)
    const change = { update, frontier: `${GATEWAY}:${range!.to - 1}` }
    if (n === 0) {
      const made = { kind: 'create', title: 'Bench', gatewayPeer: GATEWAY, source: 'html', content: change } as const
      add(made, 'request:create')
      continue
    }
    const request = requestOf(n, change.frontier, 'f'.repeat(64))
    const received = receivedOf(id, request, request, true)
    const key = { documentId: id, caller: 'user:bench', clientRequestId: request.client_request_id }
    const commandId = commandOf(log.logId, key)
    add({ kind: 'apply', received, change, diagnostics: [], annotations: ['bench'] }, commandId)
    if (waiting.length >= AT_ONCE) await append()
  }
  if (waiting.length > 0) await append()
}
