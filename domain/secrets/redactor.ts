import { controlToolNamed } from '../agent/control/registry.ts'
import { ToolError } from '../calls/errors.ts'
import type { Json, JsonObject } from '../log/json.ts'
import { formsOf, MIN_SECRET_LENGTH, unhidable } from './forms.ts'
import { isSecretKey, secretValuesInJson } from './key-names.ts'
import { type KnownTexts, knownTexts } from './known-values.ts'
import { compilePattern } from './pattern.ts'
import { pieces, REFERENCE_BEGINS, references } from './pieces.ts'
import { referrer } from './refer.ts'
import { REFERENCE, WHOLE_REFERENCE } from './reference.ts'
import { findShapes, pendingShape } from './shapes.ts'
import { type RedactedTexts, redactedTexts } from './texts.ts'

export { reference } from './refer.ts'

// A reference stands for exactly the text that it replaced (a base64 form has its own), so that
// resolving it gives back the same bytes; references are never looked into, so that redacting twice is redacting once.

const MAX_DEPTH = 1_000
/** Patterns see lines of a stream whole up to this length. In characters. */
const MAX_HELD_LINE = 4_096

/**
 * A text that holds more secrets is one secret as a whole: each reference takes as long as thousands of characters, and the
 * vault keeps every one. A reference stands for exactly what it replaced, so that nothing is lost.
 */
export const MAX_SECRETS = 10_000

/** In characters. */
const LITTLE_HELD = 512

/** Reference → the text that it stands for. Durable in the vault before the redacted text is. */
export type References = ReadonlyMap<string, string>

export interface Redacted<T> {
  readonly value: T
  readonly references: References
}

export interface RedactorOptions {
  /** The per-install key, 32 bytes. */
  readonly key: Uint8Array
  /** Secret values that must not appear in any form. Blank ones are ignored, shorter ones than 4 characters refused. */
  readonly known: readonly string[]
  /** Sources of regular expressions, without flags; look-around and back-references are refused (linear time). */
  readonly patterns?: readonly string[]
}

export interface RedactedStream {
  /** The text that is safe to show by now. Holds back only a possible beginning of a secret. */
  push(chunk: string): string
  end(): string
  /** The references that were made since this was asked for last. */
  taken(): References
}

export interface Redactor {
  /** Whether a known value stands in the text. */
  holdsKnown(text: string): boolean
  /** Free text: known values, recognised shapes, patterns. */
  redactText(text: string): Redacted<string>
  /** A JSON value, keys included; also non-blank strings under the closed list of key names. */
  redactJson(json: Json): Redacted<Json>
  /** Like redactJson; strings that are a JSON object or array as a whole are looked into. */
  redactResult(json: Json): Redacted<Json>
  /** Like redactJson; where a control tool's arguments hold a value and its name, the value stands under that name. */
  redactArguments(tool: string, args: JsonObject): Redacted<JsonObject>
  /** A file's bytes: as text where they are UTF-8, else known values and shapes only. Same object where nothing is found. */
  redactBytes(bytes: Uint8Array): Redacted<Uint8Array>
  /** Free text in chunks: what comes out, joined, is what redactText gives. Patterns match within a line here. */
  redactStream(): RedactedStream
  /** Redacts texts that are shown one by one. */
  redactTexts(): RedactedTexts
}

/** Why a reference cannot be resolved, before anything was done with it. */
export const unavailable = (reference: string, why: string): ToolError =>
  new ToolError('SECRET_UNAVAILABLE', `${reference} cannot be resolved: ${why}`, { beforeEffect: true })

/**
 * The value with every reference replaced. Throws ToolError SECRET_UNAVAILABLE for one that `lookup` does not know;
 * `lookup` itself may throw one that says more.
 */
export function resolveReferences<T extends Json>(json: T, lookup: (reference: string) => string | null): T {
  return walk(json, (text) =>
    text.replace(REFERENCE, (ref) => {
      const value = lookup(ref)
      if (value !== null) return value
      throw unavailable(ref, 'the vault of this install does not hold it')
    }),
  ) as T
}

/** Does a reference stand in the value? */
export const hasReferences = (json: Json): boolean => JSON.stringify(json).includes(REFERENCE_BEGINS)

/** A file's bytes with the references that `lookup` knows replaced; others are the file's own text and stay. */
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

/** Throws RangeError for a key of a wrong length or a value that cannot be hidden, PatternError for a refused pattern. */
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
    // Nearly every text has nothing to hide, and stays the very same one.
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
    // A hidden secret may have been the part that kept the text from being JSON.
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
        const { named } = controlToolNamed(tool) ?? {}
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
  const fault = unhidable(value)
  if (fault !== null) throw new RangeError(`a secret cannot be hidden: ${fault}; use another one`)
}

/** For files, which are hidden part by part whatever that takes, and streams, which come in pieces. */
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
      // A long text that is held back is not searched again for every few characters more.
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

/** How much of a stream's text can be decided without knowing what follows. */
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

/** A copy with every string changed: `leaf` for keys and plain values, `member` for string values of an object. */
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
