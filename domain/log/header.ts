import { z } from 'zod'
import { Actor, BodyHeader, FORMAT, Header, ownerFault } from './envelope.ts'

const CONTROL = /[\u0000-\u001f\u007f]/
const KINDS: ReadonlySet<string> = new Set(Actor.shape.kind.options)
const HEX32 = /^[0-9a-f]{64}$/
const TIME = z.regexes.datetime({ precision: 3 })
const count = (n: unknown, least: number) => Number.isSafeInteger(n) && (n as number) >= least

/**
 * Says why a header is invalid, or null. Refuses the same headers as {@link Header}, several times faster; a property
 * test compares the two. Throws when a required part is missing. {@link isHeader} checks for unknown members.
 */
export function headerFault(h: Header): string | null {
  const { actor, driver, body, digest } = h
  const cipher = body.cipher && [body.cipher.alg, body.cipher.keyId, body.cipher.nonce]
  const ids = [h.stream, h.type, h.commandId, actor.id, body.mediaType]
  for (const id of [h.runId, h.agentId, h.keyId, driver?.id, h.correlationId, h.causationId, h.toolCallId, h.trace])
    if (id !== undefined) ids.push(id)
  return (
    (h.format !== FORMAT && `format ${String(h.format)} is not ${FORMAT}`) ||
    (ids.some((id) => typeof id !== 'string' || id === '') && 'an id is empty or no text') ||
    (cipher?.some((text) => typeof text !== 'string') && 'the cipher is not described') ||
    (unstorable(cipher ? [...ids, ...cipher] : ids) && 'an id holds a control character or a lone surrogate') ||
    (!TIME.test(h.timestamp) && `timestamp ${h.timestamp} is not ISO 8601 with milliseconds and Z`) ||
    (!(count(h.version, 1) && count(h.turn, 0) && count(h.revision, 0)) && 'version, turn or revision is no count') ||
    ([driver, digest, body.cipher].some(isNoPart) &&
      'driver, digest or cipher is no object; leave out what is not there') ||
    (driver && !(typeof driver.id === 'string' && count(driver.epoch, 1)) && 'the driver has no id or epoch') ||
    (h.wakeAt !== undefined && h.wakeAt !== null && !count(h.wakeAt, 0) && 'wakeAt is no time') ||
    (h.minReader !== undefined && !count(h.minReader, 1) && 'minReader is no count') ||
    ownerFault(h) ||
    (!KINDS.has(actor.kind) && `there is no actor of kind ${String(actor.kind)}`) ||
    (actor.claimed !== undefined && actor.claimed !== true && 'claimed is true or absent') ||
    (digest && !(count(digest.fold, 1) && HEX32.test(digest.value)) && 'the digest is malformed') ||
    (body.place !== 'inline' && body.place !== 'blob' && `there is no place ${String(body.place)}`) ||
    (!(count(body.size, 0) && HEX32.test(body.hash)) && 'size or body hash is malformed') ||
    null
  )
}

const isNoPart = (part: unknown) => part !== undefined && (part === null || typeof part !== 'object')

// Not every store returns control characters and lone surrogates unchanged.
function unstorable(texts: readonly string[]): boolean {
  const all = texts.join(' ')
  return !all.isWellFormed() || CONTROL.test(all)
}

/** Whether a value has the shape of {@link Header} and no other members. Common headers are checked without zod. */
export function isHeader(h: Header): boolean {
  return isUsual(h) || Header.safeParse(h).success
}

const members = (shape: { shape: object }): ReadonlySet<string> => new Set(Object.keys(shape.shape))
const PARTS = [
  [(h: Header) => h, members(Header)],
  [(h: Header) => h.actor, members(Actor)],
  [(h: Header) => h.body, members(BodyHeader)],
  [(h: Header) => h.driver, members(Header.shape.driver.unwrap())],
  [(h: Header) => h.digest, members(Header.shape.digest.unwrap())],
] as const

function isUsual(h: Header): boolean {
  try {
    if (h.body.cipher !== undefined || headerFault(h) !== null) return false
  } catch {
    return false
  }
  for (const [part, known] of PARTS) for (const name in part(h)) if (!known.has(name)) return false
  return true
}
