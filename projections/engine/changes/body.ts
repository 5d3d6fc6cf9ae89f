import type { Header, RecordedEvent } from '../../../domain/log/envelope.ts'
import { agentOf, runOf } from '../../../domain/log/owner.ts'
import { sealedValue } from '../../../domain/log/seal.ts'
import { cut, millis } from '../text.ts'
import type { Poison } from './poison.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The knowledge of stored types that the rows of a kind of stream need. */
export interface ReadTypes<Type extends string> {
  readonly versions: Readonly<Record<Type, number>>
  /** A body of an older version in the current one. Throws where it cannot be brought up. */
  upcast(type: Type, version: number, body: unknown): unknown
  /** Why a body has not the current shape of its type, or null. */
  bodyFault(type: Type, body: unknown): string | null
}

/** Members that the events of every kind of stream show to the row rules. `at`: ms since the epoch. */
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

/** Why the header of an event shows that these types cannot read it, or null. */
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

/** The body of an event in the current version of its type, or the reason why it must park its stream. */
export function bodyIn<Type extends string>(types: ReadTypes<Type>, header: Header, bytes: Uint8Array): Read {
  const { type, version } = header
  const own = sealedValue(header.body, bytes)
  if (own !== undefined) return { body: own }
  const stored = jsonOf(bytes)
  if (stored === undefined) return { poison: { code: 'NOT_JSON', message: `the body of this ${type} is not JSON` } }
  const body = attempt(() => types.upcast(type as Type, version, stored))
  return checked(types, header, body)
}

/** A body that is in its type's current version, or the reason why it must park its stream. */
export function checked<Type extends string>(
  { bodyFault }: Pick<ReadTypes<Type>, 'bodyFault'>,
  { type }: Header,
  body: unknown,
): Read {
  const fault = bodyFault(type as Type, body)
  return fault === null ? { body } : { poison: { code: 'SHAPE', message: cut(`${type}: ${fault}`, 500) } }
}

/** The oldest reader that the writer of an event accepts: 1 unless it is a claim of any version that asks for more. */
export function minReaderIn({ header }: RecordedEvent, bytes: Uint8Array | null): number {
  if (header.type !== 'driver_claimed' || bytes === null) return 1
  const body = jsonOf(bytes)
  const asked = typeof body === 'object' && body !== null && 'minReader' in body ? body.minReader : 1
  return typeof asked === 'number' ? asked : 1
}

const jsonOf = (bytes: Uint8Array): unknown => attempt(() => JSON.parse(utf8.decode(bytes)))

function attempt(read: () => unknown): unknown {
  try {
    return read()
  } catch {
    return undefined
  }
}
