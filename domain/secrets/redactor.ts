import { ToolError } from '../calls/errors.ts'
import { NAMED_VALUES } from '../calls/named-values.ts'
import type { Json, JsonObject } from '../log/json.ts'
import { compilePattern } from './compile-pattern.ts'
import { formsOf, invalidSecret, MIN_SECRET_LENGTH } from './forms.ts'
import { isSecretKey, secretValuesInJson } from './key-names.ts'
import { findShapes, pendingShape } from './known-secret-shapes.ts'
import { type KnownTexts, knownTexts } from './known-values.ts'
import { pieces, REFERENCE_BEGINS, references } from './pieces.ts'
import { referrer } from './refer.ts'
import { REFERENCE, WHOLE_REFERENCE } from './reference.ts'
import { type RedactedTexts, redactedTexts } from './texts.ts'

export { reference } from './refer.ts'

// A reference replaces one exact text (a base64 form has its own reference), so resolving restores the same bytes. The
// redactor never changes references, so redacting twice gives the same text as redacting once.

const MAX_DEPTH = 1_000
/** Longest line of a stream that patterns see whole, in characters. */
const MAX_HELD_LINE = 4_096

/**
 * A text with more secrets becomes one secret as a whole: each reference costs as much time as thousands of characters,
 * and the vault stores every one. The reference still restores the whole text.
 */
export const MAX_SECRETS = 10_000

/** Up to this length held text is searched again on every chunk, in characters. */
const LITTLE_HELD = 512

/** Maps a reference to the text that it replaced. Durable in the vault before the redacted text is stored. */
export type References = ReadonlyMap<string, string>

export interface Redacted<T> {
  readonly value: T
  readonly references: References
}

export interface RedactorOptions {
  /** The key of this installation, 32 bytes. */
  readonly key: Uint8Array
  /** Secret values to hide in every form. Blank values are ignored; values shorter than 4 characters are refused. */
  readonly known: readonly string[]
  /** Sources of regular expressions, without flags. Look-around and back-references are refused. */
  readonly patterns?: readonly string[]
}

export interface RedactedStream {
  /** The text that is safe to show now. Holds back only a possible beginning of a secret. */
  push(chunk: string): string
  end(): string
  /** The references made since the last call. */
  taken(): References
}

export interface Redactor {
  /** Whether the text contains a known value. */
  holdsKnown(text: string): boolean
  /** Redacts free text: known values, recognised shapes, patterns. */
  redactText(text: string): Redacted<string>
  /** Redacts a JSON value with its keys, and also non-blank strings under the closed list of key names. */
  redactJson(json: Json): Redacted<Json>
  /** Like redactJson; also redacts inside strings that are, as a whole, a JSON object or array. */
  redactResult(json: Json): Redacted<Json>
  /** Like redactJson. A control tool may name a value in its arguments; the value is redacted by that name. */
  redactArguments(tool: string, args: JsonObject): Redacted<JsonObject>
  /**
   * Redacts a file's bytes: as text if they are UTF-8, otherwise known values and shapes only. Returns the same object
   * when there is nothing to redact.
   */
  redactBytes(bytes: Uint8Array): Redacted<Uint8Array>
  /** Redacts free text in chunks. The joined output equals redactText, but patterns match within a line only. */
  redactStream(): RedactedStream
  /** Redacts texts that are shown one by one. */
  redactTexts(): RedactedTexts
}

/** The error for an unresolvable reference, thrown before any effect. */
export const secretUnavailable = (reference: string, why: string): ToolError =>
  new ToolError('SECRET_UNAVAILABLE', `${reference} cannot be resolved: ${why}`, { beforeEffect: true })

/**
 * Replaces every reference in a value. Throws ToolError SECRET_UNAVAILABLE for a reference that `lookup` does not know;
 * `lookup` may throw a more precise one.
 */
export function resolveReferences<T extends Json>(json: T, lookup: (reference: string) => string | null): T {
  return walk(json, (text) =>
    text.replace(REFERENCE, (ref) => {
      const value = lookup(ref)
      if (value !== null) return value
      throw secretUnavailable(ref, 'the vault of this install does not hold it')
    }),
  ) as T
}

export const hasReferences = (json: Json): boolean => JSON.stringify(json).includes(REFERENCE_BEGINS)

/** Replaces the references in a file's bytes that `lookup` knows. Other references are the file's own text and stay. */
export function resolveBytes(bytes: Uint8Array, lookup: (reference: string) => string | null): Uint8Array {
  const text = latin1(bytes)
  let changed = false
  const resolved = text.replace(REFERENCE, (ref) => {
    const value = lookup(ref)
    changed ||= value !== null
    return value === null ? ref : Buffer.from(value, 'utf8').toString('latin1')
  })
  return changed ? Buffer.from(resolved, 'latin1') : bytes
}

/** Throws RangeError for a key of wrong length or an unhidable value, and PatternError for a refused pattern. */
export function createRedactor(options: RedactorOptions): Redactor {
  if (options.key.length !== 32) throw new RangeError('the reference key must have 32 bytes')
  const values = options.known.filter((value) => value.trim() !== '')
  for (const value of values) refuseUnhidable(value)
  const forms = [...new Set(values.flatMap(formsOf))].filter((form) => form.length >= MIN_SECRET_LENGTH)
  const known = knownTexts(forms)
  const knownBytes = knownTexts(forms.map((form) => Buffer.from(form, 'utf8').toString('latin1')))
  const searches = (options.patterns ?? []).map(compilePattern)
  const guessers = [findShapes, ...searches]

  const refer = referrer(options.key)
  const referTo = (value: string, made: Map<string, string>): string => {
    const ref = refer(value)
    made.set(ref, value)
    return ref
  }
  const replace = (
    text: string,
    made: Map<string, string>,
    most = MAX_SECRETS,
    at = known,
    guess = guessers,
    plain = same,
  ): string => {
    const found = pieces(text, at, guess, most)
    // Return the same text when there is nothing to hide, as in nearly every text.
    if (!found.some(({ secret }) => secret)) return text
    return found
      .map((piece) => {
        if (!piece.secret) return piece.text
        return referTo(plain(piece.text), made)
      })
      .join('')
  }
  const underKey = (value: string, made: Map<string, string>): string => {
    return value.trim() === '' || WHOLE_REFERENCE.test(value) ? value : referTo(value, made)
  }
  const json = (value: Json, made: Map<string, string>, leaf: (text: string) => string): Json =>
    walk(value, leaf, (key, text) => (isSecretKey(key) ? underKey(text, made) : leaf(text)))
  const whole = (text: string, made: Map<string, string>): string => {
    const named = secretValuesInJson(text)
    if (named.length > MAX_SECRETS) return underKey(text, made)
    const parts: string[] = []
    let at = 0
    for (const { start, end, value } of named) {
      parts.push(text.slice(at, start), JSON.stringify(underKey(value, made)))
      at = end
    }
    const shown = replace(parts.join('') + text.slice(at), made)
    // Hiding a secret may turn the text into JSON, which is then redacted by key names.
    return shown !== text && secretValuesInJson(shown).some(({ value }) => underKey(value, made) !== value)
      ? whole(shown, made)
      : shown
  }
  const collect = <T>(work: (made: Map<string, string>) => T): Redacted<T> => {
    const references = new Map<string, string>()
    return { value: work(references), references }
  }

  return {
    holdsKnown: (text) => known.find(text, 0).length > 0,
    redactText: (text) => collect((made) => replace(text, made)),
    redactJson: (value) => collect((made) => json(value, made, (text) => replace(text, made))),
    redactResult: (value) => collect((made) => json(value, made, (text) => whole(text, made))),
    redactArguments: (tool, args) =>
      collect((made) => {
        const named = NAMED_VALUES.get(tool)
        const [key, value] = named ? [args[named.name], args[named.value]] : []
        const isSecret = typeof key === 'string' && typeof value === 'string' && isSecretKey(key)
        const shown = isSecret ? { ...args, [named!.value]: underKey(value, made) } : args
        return json(shown, made, (text) => replace(text, made)) as JsonObject
      }),
    redactBytes: (bytes) =>
      collect((made) => {
        const text = utf8(bytes)
        const hidden =
          text === null
            ? Buffer.from(replace(latin1(bytes), made, EVERY, knownBytes, [findShapes], fromLatin1), 'latin1')
            : Buffer.from(replace(text, made, EVERY), 'utf8')
        return made.size > 0 ? hidden : bytes
      }),
    redactStream: () => stream(known, searches.length > 0, (text, made) => replace(text, made, EVERY)),
    redactTexts: () =>
      redactedTexts({
        known,
        lines: searches.length > 0,
        pieces: (text) => pieces(text, known, guessers, EVERY),
        refer: referTo,
      }),
  }
}

function refuseUnhidable(value: string): void {
  const fault = invalidSecret(value)
  if (fault !== null) throw new RangeError(`a secret cannot be hidden: ${fault}; use another one`)
}

/** No limit for files and streams: files are redacted part by part at any cost, and streams arrive in chunks. */
const EVERY = Number.POSITIVE_INFINITY

function stream(known: KnownTexts, lines: boolean, replace: (text: string, made: Map<string, string>) => string) {
  let made = new Map<string, string>()
  let held = ''
  let lookAt = 0
  const release = (length: number): string => {
    const safe = held.slice(0, length)
    held = held.slice(length)
    return replace(safe, made)
  }
  return {
    push: (chunk: string): string => {
      held += chunk
      if (held.length < lookAt) return ''
      const shown = release(safeLength(held, known, lines))
      // Search a long held text again only after it has grown by a quarter.
      lookAt = held.length < LITTLE_HELD ? 0 : held.length * 1.25
      return shown
    },
    end: (): string => release(held.length),
    taken: () => {
      const all = made
      made = new Map()
      return all
    },
  }
}

/** The length of the beginning of a stream's text that later text cannot change. */
function safeLength(text: string, known: KnownTexts, lines: boolean): number {
  let safe = text.length - known.pending(text)
  const partial = PARTIAL_REFERENCE.exec(text.slice(-36))
  if (partial) safe = Math.min(safe, text.length - partial[0].length)
  let from = 0
  for (const { start, end } of [...known.find(text), ...references(text)]) {
    if (end <= safe) from = Math.max(from, end)
    else if (start < safe) safe = start
  }
  const rest = text.slice(from, safe)
  let decided = pendingShape(rest)
  const line = rest.lastIndexOf('\n') + 1
  if (lines && rest.length - line <= MAX_HELD_LINE) decided = Math.min(decided, line)
  return from + decided
}

const PARTIAL_REFERENCE = /s(?:e(?:c(?:r(?:e(?:t(?::(?:k(?:u(?:_[0-9a-hjkmnp-tv-z]{0,25})?)?)?)?)?)?)?)?)?$/

/** Copies a value and changes every string: `leaf` for keys and plain values, `member` for an object's strings. */
function walk(json: Json, leaf: (text: string) => string, member = (_key: string, text: string) => leaf(text)): Json {
  const visit = (value: Json, depth: number): Json => {
    if (depth > MAX_DEPTH) throw new ToolError('INVALID_ARGUMENTS', `JSON is nested deeper than ${MAX_DEPTH} levels`)
    if (typeof value === 'string') return leaf(value)
    if (typeof value === 'number') return leaf(String(value)) === String(value) ? value : leaf(String(value))
    if (Array.isArray(value)) return value.map((item: Json) => visit(item, depth + 1))
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        leaf(key),
        typeof item === 'string' ? member(key, item) : visit(item, depth + 1),
      ]),
    )
  }
  return visit(json, 0)
}

const same = (text: string) => text
const latin1 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
const fromLatin1 = (text: string): string => Buffer.from(text, 'latin1').toString('utf8')

function utf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}
