import { byteLength, headOf } from '../calls/bounded.ts'
import { canonicalText } from '../log/canonical.ts'
import type { Json } from '../log/json.ts'
import { wellFormed } from '../log/well-formed.ts'
import { ContextError } from './errors.ts'

/** The JSON type of a value. */
export type VariableType = 'string' | 'number' | 'boolean' | 'null' | 'array' | 'object'

/**
 * Names a context variable, and tells what it is like (seed 004). It never carries the value. `bytes`: of the value's text in
 * UTF-8, which is the value itself where it is a string, else its canonical JSON.
 */
export interface VariableRef {
  readonly key: string
  readonly type: VariableType
  readonly bytes: number
}

/** Names of stores. */
export const STORE_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/

/** Bounds of a variable: its key in characters, its value in UTF-8 bytes. */
export const MAX_KEY = 256
export const MAX_VALUE_BYTES = 1024 * 1024
/** Variables of one store. */
export const MAX_VARIABLES = 10_000

/** A key stands in quotes on a line of a prompt. */
const KEY = /^[^\p{Cc}\p{Cs}"]+$/u

/** Throws `INVALID_VARIABLE`. */
export function checkKey(key: unknown): asserts key is string {
  if (typeof key === 'string' && key.trim() !== '' && key.length <= MAX_KEY && KEY.test(key)) return
  throw new ContextError(
    'INVALID_VARIABLE',
    `the key of a variable has 1 to ${MAX_KEY} characters, without quotes, line ends and other control characters`,
  )
}

/** A value as it is kept: JSON, well formed, and its own copy. Throws `INVALID_VARIABLE`. */
export function keptValue(key: string, value: unknown): Json {
  let text: string | undefined
  try {
    text = value === undefined ? undefined : canonicalText(wellFormed(value as object))
  } catch {
    // It is no JSON: a function, a cycle, a number without end.
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

export function typeOf(value: Json): VariableType {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value as 'string' | 'number' | 'boolean' | 'object'
}

/** A value as text: itself where it is a string, else its canonical JSON. */
export const textOf = (value: Json): string => (typeof value === 'string' ? value : canonicalText(value))

export const refOf = (key: string, value: Json): VariableRef => ({
  key,
  type: typeOf(value),
  bytes: byteLength(textOf(value)),
})

/** Tokens of a summary where the caller names no other number. */
export const SUMMARY_TOKENS = 500
/** About how many UTF-8 bytes a token stands for. */
const TOKEN_BYTES = 4
const CUT = '…'

/** The beginning of a value's text, of about `tokens` tokens at most: four UTF-8 bytes each. What was cut ends with "…". */
export function summaryOf(value: Json, tokens = SUMMARY_TOKENS): string {
  const text = textOf(value)
  const bytes = tokens * TOKEN_BYTES
  return byteLength(text) <= bytes ? text : headOf(text, Math.max(0, bytes - byteLength(CUT))) + CUT
}
