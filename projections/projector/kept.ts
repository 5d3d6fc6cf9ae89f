import type { RecordedEvent } from '../../domain/log/envelope.ts'
import { erasedFact } from '../../domain/log/erased.ts'
import type { EventRow } from '../schema/database.ts'
import type { Body } from './body.ts'

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** Rows of `event_rows` that a batch writes, and payloads that it takes away. */
export class Kept {
  readonly #rows = new Map<string, EventRow>()
  readonly erased: { readonly stream: string; readonly revision: number }[] = []

  get events(): readonly EventRow[] {
    return [...this.#rows.values()]
  }

  /** No payload where the body was erased, or cannot be had. */
  add(event: RecordedEvent, bytes: Body): void {
    const { header, id, position } = event
    const { stream, revision, actor } = header
    const gone = bytes === null || 'poison' in bytes || header.body.cipher
    for (const { revision } of erasedFact(event)?.bodies ?? []) this.erased.push({ stream, revision })
    this.#rows.set(`${stream}@${revision}`, {
      stream,
      revision,
      position,
      event_id: id,
      run_id: header.runId,
      agent_id: header.agentId,
      turn: header.turn,
      type: header.type,
      timestamp: header.timestamp,
      tool_call_id: header.toolCallId ?? null,
      actor_kind: actor.kind,
      actor_id: actor.id,
      payload: gone ? null : utf8.decode(bytes),
    })
  }
}
