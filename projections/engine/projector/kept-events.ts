import type { Header, RecordedEvent } from '../../../domain/log/envelope.ts'
import { erasedFact } from '../../../domain/log/erased.ts'
import { agentOf, runOf } from '../../../domain/log/owner.ts'
import type { StreamKind } from '../changes/stream-kind.ts'
import type { EventRow } from '../schema/database.ts'
import type { Body } from './body.ts'

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** The rows of `event_rows` that a batch writes, and the payloads that it removes. */
export class KeptEvents {
  readonly #rows = new Map<string, EventRow>()
  readonly erased: { readonly stream: string; readonly revision: number }[] = []
  readonly residues: { readonly stream: string; readonly revision: number; readonly current: string }[] = []

  get events(): readonly EventRow[] {
    return [...this.#rows.values()]
  }

  /** Adds an event, without payload when its body was erased or is unreadable. */
  add(event: RecordedEvent, bytes: Body, kind: StreamKind | undefined): void {
    const { header, id, position } = event
    const { stream, revision, actor } = header
    const payload = bytes === null || 'poison' in bytes || header.body.cipher ? null : utf8.decode(bytes)
    for (const { revision } of erasedFact(event)?.bodies ?? []) this.erased.push({ stream, revision })
    this.#rows.set(`${stream}@${revision}`, {
      stream,
      revision,
      position,
      event_id: id,
      run_id: runOf(header),
      agent_id: agentOf(header),
      turn: header.turn,
      type: header.type,
      timestamp: header.timestamp,
      tool_call_id: header.toolCallId ?? null,
      actor_kind: actor.kind,
      actor_id: actor.id,
      payload,
      current: payload === null ? null : textOf(kind?.upcast(header, payload)),
    })
  }

  /** Stores the residue of an erased event instead of its body. */
  addResidue({ stream, revision }: Header, body: unknown): void {
    this.residues.push({ stream, revision, current: JSON.stringify(body) })
  }
}

const textOf = (body: unknown): string | null => (body === undefined || body === null ? null : JSON.stringify(body))
