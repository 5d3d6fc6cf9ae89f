import { byteLength, headOf } from '../calls/truncate.ts'
import { canonicalText } from '../log/canonical.ts'
import type { Json } from '../log/json.ts'
import { wellFormed } from '../log/well-formed.ts'
import type { VariableRef, VariableType } from '../ports/variables.ts'
import { ContextError } from './errors.ts'

/** Names of stores. */
export const STORE_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/

/** The maximum size of a key in characters, and of a value in UTF-8 bytes. */
export const MAX_KEY = 256
export const MAX_VALUE_BYTES = 1024 * 1024
/** The maximum number of variables per store. */
export const MAX_VARIABLES = 10_000

/** Keys appear in quotes on one line of a prompt. */
const KEY = /^[^\p{Cc}\p{Cs}"]+$/u

/** Throws `INVALID_VARIABLE` for an invalid key. */
export function checkKey(key: unknown): asserts key is string {
  if (typeof key === 'string' && key.trim() !== '' && key.length <= MAX_KEY && KEY.test(key)) return
  throw new ContextError(
    'INVALID_VARIABLE',
    `the key of a variable has 1 to ${MAX_KEY} characters, without quotes, line ends and other control characters`,
  )
}

/** A well-formed JSON copy of a value. Throws `INVALID_VARIABLE`. */
export function keptValue(key: string, value: unknown): Json {
  let text: string | undefined
  try {
    text = value === undefined ? undefined : canonicalText(wellFormed(value as object))
  } catch {
    // Not JSON: a function, a cycle or an infinite number.
  }
  if (text === undefined)
    throw new ContextError('INVALID_VARIABLE', `the value of "${key}" is no JSON; give text, numbers, lists or objects`)
  const kept = JSON.parse(text) as Json
  if (byteLength(textOf(kept)) > MAX_VALUE_BYTES)
    throw new ContextError(
      'INVALID_VARIABLE',
      `the value of "${key}" is over ${MAX_VALUE_BYTES} bytes; put it into a file and set its path`,
    )
  return kept
}

function typeOf(value: Json): VariableType {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value as 'string' | 'number' | 'boolean' | 'object'
}

/** The text of a value: a string itself, or the canonical JSON of another value. */
const textOf = (value: Json): string => (typeof value === 'string' ? value : canonicalText(value))

export const refOf = (key: string, value: Json): VariableRef => ({
  key,
  type: typeOf(value),
  bytes: byteLength(textOf(value)),
})

/** The default length of a summary, in tokens. */
export const SUMMARY_TOKENS = 500
/** The assumed UTF-8 bytes per token. */
const TOKEN_BYTES = 4
const CUT = '…'

/** The start of a value's text, at most `tokens` tokens of four UTF-8 bytes. A cut text ends with "…". */
export function summaryOf(value: Json, tokens = SUMMARY_TOKENS): string {
  const text = textOf(value)
  const bytes = tokens * TOKEN_BYTES
  return byteLength(text) <= bytes ? text : headOf(text, Math.max(0, bytes - byteLength(CUT))) + CUT
}
