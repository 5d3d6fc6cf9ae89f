import { isEventType, upcast } from '../../domain/agent/events/codec.ts'
import { versions } from '../../domain/agent/events/events.ts'
import type { Header, RecordedEvent } from '../../domain/log/envelope.ts'
import { erasedFact } from '../../domain/log/erased.ts'
import { agentOf, runOf } from '../../domain/log/owner.ts'
import type { EventRow } from '../schema/database.ts'
import type { Body } from './body.ts'

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** Rows of `event_rows` that a batch writes, and payloads that it takes away. */
export class Kept {
  readonly #rows = new Map<string, EventRow>()
  readonly erased: { readonly stream: string; readonly revision: number }[] = []
  readonly left: { readonly stream: string; readonly revision: number; readonly current: string }[] = []

  get events(): readonly EventRow[] {
    return [...this.#rows.values()]
  }

  /** No payload where the body was erased, or cannot be had. */
  add(event: RecordedEvent, bytes: Body): void {
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
      current: payload === null ? null : broughtUp(header, payload),
    })
  }

  /** What an erasure has left of an event. */
  leave({ stream, revision }: Header, body: unknown): void {
    this.left.push({ stream, revision, current: JSON.stringify(body) })
  }
}

/** A body of an older version in the current shape; null where it has it, or cannot be brought up. */
function broughtUp({ type, version }: Header, payload: string): string | null {
  if (!isEventType(type) || version >= versions[type]) return null
  try {
    return JSON.stringify(upcast(type, version, JSON.parse(payload)))
  } catch {
    return null
  }
}
