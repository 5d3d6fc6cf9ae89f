import { z } from 'zod'
import { firstIssue } from '../../log/issues.ts'
import type { Json } from '../../log/json.ts'
import { ToolError } from '../errors.ts'
import { isTame, MAX_JSON_DEPTH } from '../requested-calls.ts'
import type { ToolResult } from './tool-call.ts'

// Tools are foreign code. A return value that cannot be converted to plain JSON of the port's shape fails the call.

const text = z.string()
const Result = z.strictObject({
  content: z.unknown().refine((content) => content !== undefined, 'expected text or JSON, not undefined'),
  changed: z.array(text).optional(),
  created: z.array(text).optional(),
  detail: z.record(text, z.unknown()).optional(),
  documents: z.record(text, text).optional(),
})

/** A larger result is rejected. Its size usually means that parts of it refer to each other repeatedly. */
const MAX_VALUES = 1_000_000

/**
 * Validates the return value of a tool. Throws ToolError EXECUTION_FAILED, which names the fault. Runs in steps,
 * because a step is slow for very many values: the caller can yield to the event loop between steps.
 */
export function* toolResult(given: unknown): Generator<undefined, ToolResult> {
  if (given === null || typeof given !== 'object' || !('whole' in given)) return yield* shapedResult(given)
  const { whole, ...shown } = given as { whole: unknown }
  if (whole === undefined) return yield* shapedResult(shown)
  const pieces = Array.isArray(whole) && whole.every((piece) => piece instanceof Uint8Array)
  if (typeof whole !== 'string' && !pieces) throw wrong('result.whole: expected text, or a list of Uint8Array of UTF-8')
  return { ...(yield* shapedResult(shown)), whole: whole as string | readonly Uint8Array[] }
}

/** Long text content skips the JSON round trip, because a string is already plain. */
function* shapedResult(given: unknown): Generator<undefined, ToolResult> {
  const content = (given as { content?: unknown } | null)?.content
  if (typeof content !== 'string' || content.length <= LONG_TEXT) return yield* checkedResult(given)
  return { ...(yield* checkedResult({ ...(given as object), content: '' })), content }
}

/** In characters. */
const LONG_TEXT = 64 * 1024

function* checkedResult(given: unknown): Generator<undefined, ToolResult> {
  const written = asJson(given)
  yield
  const plain = JSON.parse(written) as Json
  yield
  const parsed = Result.safeParse(plain)
  if (!parsed.success) throw wrong(firstIssue(parsed.error, 'result'))
  if (!isTame(plain)) throw wrong(`its JSON is nested deeper than ${MAX_JSON_DEPTH} levels`)
  return parsed.data as ToolResult
}

function asJson(given: unknown): string {
  let values = 0
  const checked = function (this: unknown, key: string, value: unknown): unknown {
    if (++values > MAX_VALUES) throw wrong(`it holds more than ${MAX_VALUES} values`)
    const lost = value === undefined ? Array.isArray(this) : typeof value === 'function' || typeof value === 'symbol'
    const number = typeof value === 'number' && !Number.isFinite(value)
    if (lost || number || typeof value === 'bigint')
      throw wrong(
        `${number ? String(value) : typeof value} is no JSON${key === '' ? '' : ` (at "${key.slice(0, 64)}")`}`,
      )
    return value
  }
  let written: string | undefined
  try {
    written = JSON.stringify(given, checked)
  } catch (cause) {
    if (cause instanceof ToolError) throw cause
    // A cycle, a stack overflow, or a getter or `toJSON` that throws.
    throw wrong(
      cause instanceof RangeError ? 'its JSON is nested too deep' : 'its JSON leads in a circle or cannot be read',
    )
  }
  if (written === undefined) throw wrong('it is undefined')
  return written
}

const wrong = (why: string) =>
  new ToolError('EXECUTION_FAILED', `the tool ran, but what it returned is no result: ${why}`)
