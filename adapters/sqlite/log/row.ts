import type { BodyHeader, Header, RecordedEvent, SealedEvent } from '../../../domain/log/envelope.ts'
import { eventId, SALT_BYTES } from '../../../domain/log/seal.ts'
import { unpackBody } from './body.ts'

/** The repeating part of a header. It is interned: a log has a few dozen. */
export interface HeaderKind {
  readonly type: string
  readonly version: number
  readonly format: number
  readonly mediaType: string
  readonly place: string
  /** Set only on the first event of a stream. */
  readonly minReader: number | null
}

/** The identity members of a header. It is interned: a stream has a few. */
export interface HeaderOrigin {
  readonly stream: string
  readonly runId: string | null
  readonly agentId: string | null
  readonly actor: Header['actor']
  readonly driver: Header['driver']
  readonly correlationId: string | null
  readonly cipher: { readonly alg: string; readonly keyId: string } | null
  /** The stream's key. Set only on its first event. */
  readonly keyId: string | null
}

export const EVENT_COLUMNS = [
  'position',
  'stream',
  'revision',
  'kind',
  'origin',
  'turn',
  'at',
  'size',
  'fold',
  'command',
  'causation',
  'call',
  'trace',
  'nonce',
  'wake',
  'proof',
] as const

// Stands for the agent's id. Headers cannot contain control characters, so no value begins with it.
const AGENT = '\x01'
// Stands for `<the event's own stream>@`.
const STREAM = '\x02'

function shorten(text: string | undefined, agentId: string | undefined): string | null {
  if (text === undefined) return null
  return agentId !== undefined && text.startsWith(agentId) ? AGENT + text.slice(agentId.length) : text
}

function lengthen(text: string, agentId: string | null): string {
  return agentId !== null && text.startsWith(AGENT) ? agentId + text.slice(1) : text
}

// The stored value of a null `wakeAt`. Times are not negative. NULL means that the header has no `wakeAt`.
const NEVER = -1

/** The values of an event's row, in the order of {@link EVENT_COLUMNS}. */
export function toRow(event: SealedEvent, position: number, stream: number, kind: number, origin: number) {
  const h = event.header
  const { hash, size, cipher } = h.body
  return [
    position,
    stream,
    h.revision,
    kind,
    origin,
    h.turn,
    Date.parse(h.timestamp),
    size,
    h.digest?.fold ?? null,
    shorten(h.commandId, h.agentId),
    h.causationId?.startsWith(`${h.stream}@`)
      ? STREAM + h.causationId.slice(h.stream.length + 1)
      : (h.causationId ?? null),
    shorten(h.toolCallId, h.agentId),
    h.trace ?? null,
    cipher?.nonce ?? null,
    h.wakeAt === null ? NEVER : (h.wakeAt ?? null),
    Buffer.from(event.hash + hash + (h.digest?.value ?? ''), 'hex'),
  ]
}

/** A row as read: {@link EVENT_COLUMNS}, then the erasure's fact, and, with bodies, `packed` and `bytes`. */
export type LogRow = readonly [
  position: number,
  stream: number,
  revision: number,
  kind: number,
  origin: number,
  turn: number,
  at: number,
  size: number,
  fold: number | null,
  command: string,
  causation: string | null,
  call: string | null,
  trace: string | null,
  nonce: string | null,
  wake: number | null,
  proof: Uint8Array,
  fact: number | null,
  packed?: number | null,
  bytes?: Uint8Array | null,
]

/** Rebuilds the event exactly: the header has the same canonical bytes as the sealed one. */
export function fromRow(row: LogRow, kind: HeaderKind, origin: HeaderOrigin): RecordedEvent {
  const { agentId, stream } = origin
  const [position, , revision, , , turn, at, size, fold, command, causation, call, trace, nonce, wake, bytes, fact] =
    row
  // Convert to hex once and slice the parts. Each further conversion would cost as much.
  const proof = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
  const hash = proof.slice(0, 64)
  const body: BodyHeader = {
    place: kind.place as BodyHeader['place'],
    size,
    mediaType: kind.mediaType,
    hash: proof.slice(64, 128),
  }
  if (origin.cipher) body.cipher = { ...origin.cipher, nonce: nonce ?? '' }
  const header: Header = {
    format: kind.format as Header['format'],
    stream,
    type: kind.type,
    version: kind.version,
    turn,
    revision,
    timestamp: textOf(at),
    commandId: lengthen(command, agentId),
    actor: origin.actor,
    body,
  }
  if (origin.runId !== null) header.runId = origin.runId
  if (agentId !== null) header.agentId = agentId
  if (origin.driver) header.driver = origin.driver
  if (origin.correlationId !== null) header.correlationId = origin.correlationId
  if (causation !== null)
    header.causationId = causation.startsWith(STREAM) ? `${stream}@${causation.slice(1)}` : causation
  if (call !== null) header.toolCallId = lengthen(call, agentId)
  if (trace !== null) header.trace = trace
  if (fold !== null) header.digest = { fold, value: proof.slice(128, 192) }
  if (wake !== null) header.wakeAt = wake === NEVER ? null : wake
  if (kind.minReader !== null) header.minReader = kind.minReader
  if (origin.keyId !== null) header.keyId = origin.keyId
  const event = { header, body: bodyOf(row), hash, id: eventId(hash), position }
  return fact === null ? event : { ...event, erased: true }
}

// The last converted time. All events of an append have the same time.
let told = { at: Number.NaN, text: '' }

function textOf(at: number): string {
  if (told.at !== at) told = { at, text: new Date(at).toISOString() }
  return told.text
}

function bodyOf(row: LogRow): Uint8Array | null {
  const bytes = row[18]
  if (!bytes) return null
  try {
    return unpackBody(bytes, row[17] ?? 0, SALT_BYTES + row[7])
  } catch {
    // The row was altered; readers detect this by its hash. Return the bytes, so that the other events remain readable.
    return bytes
  }
}
