import { MAX_ARGUMENT_VALUES } from '../../domain/calls/answer-bounds.ts'
import type { Block } from '../../domain/calls/content.ts'
import { ModelError } from '../../domain/calls/errors.ts'
import type { Json, JsonObject } from '../../domain/log/json.ts'
import { jsonSize } from '../../domain/log/json-size.ts'

// The deepest nesting of an answer. Answers enter the log as RFC 8785: finite numbers, well-formed strings, bounded
// depth.

const DEEPEST = 128

/** Replaces lone surrogates and NUL by U+FFFD. */
export function toWellFormedText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '�')
}

/**
 * A provider's JSON with well-formed strings and keys. Throws ModelError INVALID_RESPONSE if the nesting is deeper than
 * 128 levels or a number is not finite.
 */
export function wellFormedJson(value: unknown, depth = 0): Json {
  if (depth > DEEPEST) throw new ModelError('INVALID_RESPONSE', 'the answer is nested too deeply', { transient: true })
  if (typeof value === 'string') return toWellFormedText(value)
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return value
    throw new ModelError('INVALID_RESPONSE', 'the answer holds a number that JSON cannot write', { transient: true })
  }
  if (Array.isArray(value)) return value.map((item) => wellFormedJson(item, depth + 1))
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => [toWellFormedText(key), wellFormedJson(item, depth + 1)]),
    )
  }
  return typeof value === 'boolean' ? value : null
}

/**
 * The arguments of a call from streamed text. An object becomes `input`. Other text (not JSON, not an object, or
 * without a canonical form) remains unchanged as `input_text`, and the check of arguments refuses it.
 */
export function parseArguments(text: string): { readonly input: JsonObject } | { readonly input_text: string } {
  if (text.trim() === '') return { input: {} }
  const { depth, values } = jsonSize(text)
  try {
    if (depth > DEEPEST || values > MAX_ARGUMENT_VALUES) return { input_text: text.toWellFormed() }
    const value: unknown = JSON.parse(text)
    if (value !== null && typeof value === 'object' && !Array.isArray(value) && isCanonical(value, 0)) {
      return { input: value as JsonObject }
    }
  } catch {
    // The text is not JSON and remains text.
  }
  return { input_text: text.toWellFormed() }
}

function isCanonical(value: unknown, depth: number): boolean {
  if (depth > DEEPEST) return false
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value === 'number') return Number.isFinite(value)
  if (value === null || typeof value !== 'object') return true
  return Object.entries(value).every(([key, item]) => key.isWellFormed() && isCanonical(item, depth + 1))
}

/** Gives every `tool_use` block of an answer a unique id: `fallback(n)` for a missing one, `_2` for a repeat. */
export function withUniqueIds(content: readonly Block[], fallback: (call: number) => string): Block[] {
  const used = new Set<string>()
  let call = 0
  return content.map((block) => {
    if (block.type !== 'tool_use') return block
    const wanted = typeof block.id === 'string' && block.id !== '' ? block.id : fallback(call)
    call += 1
    let id = wanted
    for (let n = 2; used.has(id); n += 1) id = `${wanted}_${n}`
    used.add(id)
    return id === block.id ? block : ({ ...block, id } as Block)
  })
}

/** A provider's count of tokens; 0 for any value but a positive integer. */
export function tokenCount(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? Math.min(value, 1_000_000_000) : 0
}
