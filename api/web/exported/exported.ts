import { canonicalHeader } from '../../../domain/log/canonical.ts'
import type { Header } from '../../../domain/log/envelope.ts'
import type { JsonObject } from '../../../domain/log/json.ts'

/** One line of an export. `body`: base64 of the stored bytes, salt first; null: erased. */
interface Line {
  readonly header: Header
  readonly hash: string
  readonly id: string
  readonly body: string | null
  readonly erased?: true
}

interface Head {
  readonly export: number
  readonly logId: string
  readonly runId: string
  readonly streams: readonly { readonly stream: string; readonly revision: number; readonly hash: string }[]
}

/** An export that the browser has read. No part of it leaves this computer. */
export interface Exported {
  readonly name: string
  readonly head: Head
  readonly lines: readonly Line[]
}

/** The file is not an export of `keepup export`. */
export class NotAnExport extends Error {
  override readonly name = 'NotAnExport'
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isPlace = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

/** Checks only the members that this page needs. */
function isHead(value: Partial<Head> | null): value is Head {
  if (value?.export !== VERSION || !isText(value.runId) || !isText(value.logId) || !Array.isArray(value.streams))
    return false
  return value.streams.every((end: Partial<Head['streams'][number]> | null) => isText(end?.stream) && isText(end.hash))
}

function isLine(value: Partial<Line> | null): value is Line {
  const { header, hash, body } = value ?? {}
  if (!isText(header?.stream) || !isText(header.type) || !isText(hash) || !(body === null || isText(body))) return false
  return isText(header.body?.hash) && isPlace(header.revision) && !Number.isNaN(Date.parse(header.timestamp))
}

const PART = '{"attachment":'
const VERSION = 1
/** The salt before each stored body. */
const SALT_BYTES = 16

function parsed(text: string, number: number): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new NotAnExport(`line ${number} is no JSON`)
  }
}

/** Reads an export line by line. Skips long results, which have separate lines. Rejects with {@link NotAnExport}. */
export async function readExport(name: string, texts: AsyncIterable<string>): Promise<Exported> {
  let head: Head | null = null
  const lines: Line[] = []
  let number = 0
  for await (const text of texts) {
    number++
    if (text.trim() === '' || (head !== null && text.startsWith(PART))) continue
    const value = parsed(text, number)
    if (head === null) {
      if (!isHead(value as Partial<Head> | null))
        throw new NotAnExport(
          `its first line is none of an export of version ${VERSION}; make one with: keepup export RUN > run.ndjson`,
        )
      head = value as Head
    } else {
      if (!isLine(value as Partial<Line> | null)) throw new NotAnExport(`line ${number} is no event`)
      lines.push(value as Line)
    }
  }
  if (head === null) throw new NotAnExport('it is empty')
  return { name, head, lines }
}

/** Yields the lines of a file while it is read. */
export async function* linesOf(file: Blob): AsyncGenerator<string> {
  const reader = file
    .stream()
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    const parts = (rest + value).split('\n')
    rest = parts.pop()!
    yield* parts
  }
  yield rest
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))
const fromHex = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
const toHex = (bytes: ArrayBuffer): string =>
  [...new Uint8Array(bytes)].map((n) => n.toString(16).padStart(2, '0')).join('')

/**
 * The body of an event. If the event names its call's arguments, adds them from the model's answer. Null: the body was
 * erased, is encrypted, or is not JSON.
 */
export function exportedBody(lines: readonly Line[], line: Line): JsonObject | null {
  const body = decoded(line)
  const ref = body?.argumentsRef as { readonly revision: number; readonly block: number } | undefined
  if (body === null || typeof ref !== 'object' || ref === null) return body
  const answer = lines.find(({ header: h }) => h.stream === line.header.stream && h.revision === ref.revision)
  const content = answer === undefined ? null : decoded(answer)?.content
  const block = (Array.isArray(content) ? content[ref.block] : null) as JsonObject | null | undefined
  return { ...body, arguments: block?.input ?? block?.input_text ?? null }
}

function decoded({ body, header }: Line): JsonObject | null {
  if (body === null || header.body.cipher !== undefined) return null
  try {
    return JSON.parse(new TextDecoder().decode(bytesOf(body).subarray(SALT_BYTES))) as JsonObject
  } catch {
    return null
  }
}

/** Null: this program did not write the content in this form. */
function tried<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}

/** The progress of a check. */
export interface Checked {
  readonly events: number
  readonly problems: readonly string[]
}

const MOST_PROBLEMS = 100

/**
 * Checks each body against the hash in its header, each header's place in the chain, and the last hashes that the first
 * line names. Null: the browser offers no WebCrypto on this origin.
 */
export async function checkExport(
  { head, lines }: Exported,
  onProgress: (checked: Checked) => void,
  signal: AbortSignal,
): Promise<Checked | null> {
  const { subtle } = globalThis.crypto
  if (subtle === undefined) return null
  const sha = async (...parts: Uint8Array[]) =>
    toHex(await subtle.digest('SHA-256', await new Blob(parts as Uint8Array<ArrayBuffer>[]).arrayBuffer()))
  const ends = new Map<string, { revision: number; hash: string }>()
  const problems: string[] = []
  let events = 0
  const utf8 = new TextEncoder()
  for (const { header, hash, body } of lines) {
    if (signal.aborted) break
    const before = ends.get(header.stream)
    const place = `${header.stream}@${header.revision}`
    if (header.revision !== (before?.revision ?? -1) + 1) problems.push(`${place}: events before it are missing`)
    const sealed = tried(() => utf8.encode(canonicalHeader(header)))
    if (sealed === null || (await sha(fromHex(before?.hash ?? '0'.repeat(64)), sealed)) !== hash)
      problems.push(`${place}: its hash is not that of its header and the event before`)
    const stored = body === null ? null : tried(() => bytesOf(body))
    if (body !== null && (stored === null || (await sha(stored)) !== header.body.hash))
      problems.push(`${place}: its body is not the one that was sealed`)
    ends.set(header.stream, { revision: header.revision, hash })
    events++
    if (events % 500 === 0) onProgress({ events, problems })
    if (problems.length > MOST_PROBLEMS) break
  }
  if (!signal.aborted)
    for (const { stream, revision, hash } of head.streams) {
      const end = ends.get(stream)
      if (end?.revision !== revision || end.hash !== hash)
        problems.push(`${stream}: it does not end where the first line says`)
    }
  return { events, problems }
}
