import type { Header, RecordedEvent } from '../../../domain/log/envelope.ts'
import { agentOf, runOf } from '../../../domain/log/owner.ts'
import { sealedValue } from '../../../domain/log/seal.ts'
import { cut, millis } from '../text.ts'
import type { Poison } from './poison.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The parts of a codec that the row rules of a kind of stream need. */
export interface ReadTypes<Type extends string> {
  readonly versions: Readonly<Record<Type, number>>
  /** Upcasts a body of an older version to the current one. Throws when there is no upcaster. */
  upcast(type: Type, version: number, body: unknown): unknown
  /** Says how a body differs from the current shape of its type; null when it does not. */
  bodyFault(type: Type, body: unknown): string | null
}

/** The members that every kind of stream gives the row rules. `at`: ms since the epoch. */
export const frameOf = ({ header, position }: RecordedEvent) => ({
  revision: header.revision,
  at: millis(header.timestamp)!,
  agentId: agentOf(header),
  runId: runOf(header),
  commandId: header.commandId,
  actor: header.actor,
  bodyHash: header.body.hash,
  position,
  time: header.timestamp,
})

/** The reason why an event cannot be read with these types, from its header alone; null: none. */
export function headerPoison(versions: Readonly<Record<string, number>>, header: Header): Poison | null {
  const { type, version, body } = header
  if (!Object.hasOwn(versions, type)) {
    const message = `no event type is called "${cut(type, 80)}" here; a newer program may know it`
    return { code: 'UNKNOWN_TYPE', message }
  }
  const current = versions[type]!
  if (version > current)
    return { code: 'NEWER_VERSION', message: `${type} version ${version}; this program reads up to ${current}` }
  if (body.cipher) return { code: 'ENCIPHERED', message: `the body is enciphered with key ${body.cipher.keyId}` }
  return null
}

type Read = { readonly body: unknown } | { readonly poison: Poison }

/** An event's body in the current version of its type, or the reason to park its stream. */
export function bodyIn<Type extends string>(types: ReadTypes<Type>, header: Header, bytes: Uint8Array): Read {
  const { type, version } = header
  const own = sealedValue(header.body, bytes)
  if (own !== undefined) return { body: own }
  const stored = jsonOf(bytes)
  if (stored === undefined) return { poison: { code: 'NOT_JSON', message: `the body of this ${type} is not JSON` } }
  const body = attempt(() => types.upcast(type as Type, version, stored))
  return checked(types, header, body)
}

/** Checks a body against the current shape of its type. Returns the body, or the reason to park its stream. */
export function checked<Type extends string>(
  { bodyFault }: Pick<ReadTypes<Type>, 'bodyFault'>,
  { type }: Header,
  body: unknown,
): Read {
  const fault = bodyFault(type as Type, body)
  return fault === null ? { body } : { poison: { code: 'SHAPE', message: cut(`${type}: ${fault}`, 500) } }
}

/** The `minReader` of a claim of any version; 1 when the body has none. */
export function minReaderIn(claim: Uint8Array): number {
  const body = jsonOf(claim)
  const asked = typeof body === 'object' && body !== null && 'minReader' in body ? body.minReader : 1
  return typeof asked === 'number' ? asked : 1
}

const jsonOf = (bytes: Uint8Array): unknown => attempt(() => JSON.parse(utf8.decode(bytes)))

/** The result of `read`; undefined when it throws. */
export function attempt(read: () => unknown): unknown {
  try {
    return read()
  } catch {
    return undefined
  }
}
