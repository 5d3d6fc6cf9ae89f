import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { kindOf } from '../../../domain/log/owner.ts'
import type { EventView } from '../events/schemas.ts'
import { type EventRow, eventRow } from './event-row.ts'

/** An event in the form of CloudEvents 1.0.2. The members after `data` are extensions. */
export interface CloudEvent {
  readonly specversion: '1.0'
  readonly id: string
  readonly source: string
  readonly type: string
  readonly subject: string
  readonly time: string
  readonly datacontenttype?: 'application/json'
  readonly dataschema?: string
  readonly data?: unknown
  /** The position, with as many digits as any position, so that texts sort like positions. */
  readonly sequence: string
  readonly partitionkey: string
  readonly traceparent?: string
  readonly kuhash: string
  readonly kurun?: string
  readonly kuagent?: string
  readonly kuactor: string
}

/** Characters that attributes of CloudEvents cannot have. */
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f\p{Noncharacter_Code_Point}\p{Surrogate}]/gu

/** An event of the log `log` as a CloudEvent. `data` is the payload; absent: erased or altered. */
export function cloudEvent(row: EventRow & { readonly trace?: string }, log: string): CloudEvent {
  const { stream, revision, type, version, payload } = row
  const data: unknown = payload === null ? undefined : JSON.parse(payload)
  // The schemas describe stored bodies. A payload with resolved arguments has members that the stored body lacks.
  const isStored = typeof data === 'object' && data !== null && !('argumentsRef' in data || 'askedName' in data)
  return {
    specversion: '1.0',
    id: row.event_id,
    source: `keepup://${log}/${encodeURIComponent(stream)}`,
    type: `dev.keepup.${type}.v${version}`,
    subject: row.tool_call_id ?? String(revision),
    time: row.time,
    ...(data !== undefined && { datacontenttype: 'application/json', data }),
    ...(isStored && { dataschema: `urn:keepup:event:${kindOf(stream)}:${type}:${version}` }),
    sequence: String(row.position).padStart(20, '0'),
    partitionkey: stream,
    ...(row.trace !== undefined && { traceparent: row.trace }),
    kuhash: row.hash,
    ...(row.run_id !== null && { kurun: row.run_id }),
    ...(row.agent_id !== null && { kuagent: row.agent_id }),
    kuactor: `${row.actor_kind}:${row.actor_id}`.replace(FORBIDDEN, '\ufffd'),
  }
}

/** A recorded event of the log `log` with its view, as a CloudEvent. */
export function cloudEventOf(event: RecordedEvent, { payload }: Pick<EventView, 'payload'>, log: string): CloudEvent {
  const { trace } = event.header
  return cloudEvent({ ...eventRow(event, payload), ...(trace !== undefined && { trace }) }, log)
}
