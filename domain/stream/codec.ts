import type { z } from 'zod'
import { FORMAT, type Header, READER } from '../log/envelope.ts'
import { LogError } from '../log/errors.ts'
import { instantOf } from '../log/instant.ts'
import { firstIssue } from '../log/issues.ts'
import type { Aggregate, StreamEvent } from './aggregate.ts'

/** Converts a body of one version to the next version. Pure. */
export type Upcaster = (body: unknown) => unknown

/** Upcasters by event type and source version. */
export type Upcasters = Readonly<Record<string, Readonly<Record<number, Upcaster>> | undefined>>

/** The stored event types of one kind of stream. */
export interface StoredTypes {
  /** The schema of each type's current version. */
  readonly bodies: Readonly<Record<string, z.ZodType>>
  readonly versions: Readonly<Record<string, number>>
  readonly upcasters?: Upcasters
  /** The type of the event by which a driver claims a stream. Its body is a {@link Claim}. */
  readonly claim?: string
}

/** The members of a claim's body that decide whether this program can read further. */
interface Claim {
  readonly minReader: number
  readonly keepup: string
}

/** The members of an aggregate that its codec provides. */
export type Reading<Event extends StreamEvent> = Pick<
  Aggregate<unknown, Event, unknown>,
  'versions' | 'bodies' | 'decode' | 'decodeKept' | 'checkKnown' | 'fault' | 'claim'
>

/** Decodes the stored events of one kind of stream. */
export interface Codec<Event extends StreamEvent> extends Pick<Reading<Event>, 'decode' | 'decodeKept' | 'checkKnown'> {
  readonly reading: Reading<Event>
  /** Upcasts a body of an old version to the current one. Throws `UNKNOWN_EVENT`. */
  upcast(type: Event['type'], version: number, body: unknown): unknown
  /** Says how a body differs from its type's current shape; null when it does not. Writers seal no faulty body. */
  bodyFault(type: Event['type'], body: unknown): string | null
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The codec of a kind of stream. `own`: the members that its events have in addition to the common ones. */
export function codecOf<Event extends StreamEvent>(
  { bodies, versions, upcasters = {}, claim }: StoredTypes,
  own: (header: Header) => object = () => ({}),
): Codec<Event> {
  const isKnown = (type: string) => Object.hasOwn(bodies, type)
  const checkKnown = (header: Header) => {
    checkReadable(header)
    if (!isKnown(header.type)) throw unknownType(header)
    const current = versions[header.type]!
    if (header.version > current) throw newerVersion(header.type, header.version, current)
  }
  const upcast = (type: string, version: number, body: unknown) => {
    const current = versions[type]!
    if (version > current) throw newerVersion(type, version, current)
    let value = body
    for (let v = version; v < current; v++) {
      const up = upcasters[type]?.[v]
      if (up === undefined)
        throw new LogError('UNKNOWN_EVENT', `no upcaster brings ${type} from version ${v} to ${v + 1}`)
      value = up(value)
    }
    return value
  }
  const decodeKept: Codec<Event>['decodeKept'] = (header, { version, body }) => {
    if (!isKnown(header.type)) throw unknownType(header)
    return { ...common(header), body: upcast(header.type, version, body), ...own(header) } as Event
  }
  const decode: Codec<Event>['decode'] = (header, bytes) => {
    checkReadable(header)
    const event = decodeKept(header, { version: header.version, body: parse(header, bytes) })
    if (header.type === claim) checkReader(header, event.body as Claim)
    return event
  }
  const bodyFault = (type: string, body: unknown) => {
    const parsed = bodies[type]!.safeParse(body)
    return parsed.success ? null : firstIssue(parsed.error, 'body')
  }
  const fault = ({ type, body }: Event) => bodyFault(type, body)
  const reading = { versions, bodies, decode, decodeKept, checkKnown, fault, claim }
  return { reading, decode, decodeKept, checkKnown, upcast, bodyFault }
}

const common = (header: Header) => ({
  type: header.type,
  revision: header.revision,
  at: instantOf(header.timestamp),
  commandId: header.commandId,
  actor: header.actor,
  bodyHash: header.body.hash,
  ...(header.toolCallId === undefined ? {} : { toolCallId: header.toolCallId }),
  ...(header.causationId === undefined ? {} : { causationId: header.causationId }),
  ...(header.correlationId === undefined ? {} : { correlationId: header.correlationId }),
  ...(header.driver === undefined ? {} : { driver: header.driver }),
})

function checkReadable(header: Header): void {
  const at = `${header.stream}@${header.revision}`
  if (header.format > FORMAT) {
    throw new LogError('LOG_NEWER', `${at} is in format ${header.format}, this keepup reads ${FORMAT}; use a newer one`)
  }
  if (header.minReader !== undefined && header.minReader > READER) {
    throw new LogError('LOG_NEWER', `${header.stream} needs the newer keepup that began it; use that one`)
  }
  if (header.body.cipher !== undefined) {
    throw new LogError(
      'UNKNOWN_EVENT',
      `the body of ${at} is encrypted, which this keepup cannot read; use the one that wrote it`,
    )
  }
}

function checkReader({ stream }: Header, { minReader, keepup }: Claim): void {
  if (minReader <= READER) return
  throw new LogError('LOG_NEWER', `${stream} is driven by a newer keepup (${keepup}); use that one`)
}

const unknownType = ({ type, stream, revision }: Header) =>
  new LogError(
    'UNKNOWN_EVENT',
    `"${type}" at ${stream}@${revision} is not known; a newer keepup wrote it, use that one`,
  )

const newerVersion = (type: string, version: number, current: number) =>
  new LogError('UNKNOWN_EVENT', `${type} version ${version} is newer than this program's ${current}`)

function parse(header: Header, body: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(body))
  } catch (cause) {
    throw new LogError('LOG_CORRUPT', `the body of ${header.stream}@${header.revision} is not JSON`, { cause })
  }
}
