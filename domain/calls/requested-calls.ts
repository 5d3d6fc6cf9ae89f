import type { Json, JsonObject } from '../log/json.ts'
import { jsonFault } from '../log/json-fault.ts'
import { type JsonSize, jsonSize } from '../log/json-size.ts'
import { MAX_ARGUMENT_BYTES, MAX_ARGUMENT_DEPTH, MAX_ARGUMENT_VALUES } from './answer-bounds.ts'
import type { Block } from './content.ts'
import { byteLength } from './truncate.ts'

export interface RequestedCall {
  /** Index of the block in the content. */
  readonly block: number
  readonly providerId: string
  readonly name: string
  /** Null: the arguments are not a JSON object that every reader parses alike, or exceed the bounds of an answer. */
  readonly arguments: JsonObject | null
  /** The exceeded bound, as a sentence; absent: none. */
  readonly beyond?: string
}

/** Calls by content. Content is immutable, and reading megabytes of arguments is slow. */
const read = new WeakMap<readonly Block[], readonly RequestedCall[]>()

/** The tool calls of an answer's content, in order. Cached per content array. */
export function requestedCalls(content: readonly Block[]): readonly RequestedCall[] {
  const known = read.get(content)
  if (known !== undefined) return known
  const reading = readCalls(content)
  for (;;) {
    const step = reading.next()
    if (step.done) return step.value
  }
}

/** {@link requestedCalls} in steps, one per call, so that the caller can yield to the event loop between steps. */
export function* readCalls(content: readonly Block[]): Generator<undefined, readonly RequestedCall[]> {
  const calls: RequestedCall[] = []
  let values = 0
  for (const [index, block] of content.entries()) {
    if (block.type !== 'tool_use') continue
    const { text, size } = argumentText(block)
    values += size.values
    const beyond = beyondBounds(text, size, values)
    calls.push({
      block: index,
      providerId: typeof block.id === 'string' ? block.id : '',
      name: typeof block.name === 'string' ? block.name : '',
      arguments: beyond === null ? objectOf(block, size) : null,
      ...(beyond === null ? {} : { beyond }),
    })
    yield
  }
  read.set(content, calls)
  return calls
}

/** The arguments of a block as text, and the size of that text; empty if the arguments cannot be written as JSON. */
function argumentText(block: Block): { text: string; size: JsonSize } {
  const raw = 'input_text' in block ? block.input_text : isTame(block.input) ? JSON.stringify(block.input) : ''
  const text = typeof raw === 'string' ? raw : ''
  return { text, size: jsonSize(text) }
}

function beyondBounds(text: string, { depth }: JsonSize, values: number): string | null {
  if (byteLength(text) > MAX_ARGUMENT_BYTES) return 'the arguments are larger than 1 MiB'
  if (depth > MAX_ARGUMENT_DEPTH) return `the arguments are nested deeper than ${MAX_ARGUMENT_DEPTH} levels`
  if (values > MAX_ARGUMENT_VALUES)
    return `the arguments of one answer may hold ${MAX_ARGUMENT_VALUES} values, and these hold more; send fewer at once`
  return null
}

/** The text blocks, joined by newlines. */
export function textOf(content: readonly Block[]): string {
  return content
    .filter((b) => b.type === 'text' && typeof b.text === 'string')
    .map((b) => b.text)
    .join('\n')
    .trim()
}

/**
 * The argument object of a stored `tool_use` block. Null if the arguments are not an object, contain a duplicate key,
 * are nested deeper than {@link MAX_JSON_DEPTH}, or contain more values than an answer may: no call ran with those
 * arguments, and parsing them every turn is slow. The other bounds of new answers ({@link requestedCalls}) do not
 * apply.
 */
export function callArguments(block: Block): JsonObject | null {
  const raw = block.input_text
  const size = typeof raw === 'string' ? jsonSize(raw) : null
  return size !== null && size.values > MAX_ARGUMENT_VALUES ? null : objectOf(block, size)
}

/** `size`: of `input_text`; null if the block has none. */
function objectOf(block: Block, size: JsonSize | null): JsonObject | null {
  const raw: Json | undefined = 'input_text' in block ? parse(block.input_text as Json, size) : block.input
  const object = raw !== null && typeof raw === 'object' && !Array.isArray(raw) ? (raw as JsonObject) : null
  return object !== null && isTame(object) ? object : null
}

/** Nesting levels that JSON from models and tools may have. Arguments are nested inside their blocks. */
export const MAX_JSON_DEPTH = 128

/** Whether all numbers are finite (JSON text may contain 1e999) and recursion is safe (at most `depth` levels). */
export function isTame(value: unknown, depth = MAX_JSON_DEPTH): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (value === null || typeof value !== 'object') return SCALARS.has(typeof value)
  return depth > 0 && Object.values(value).every((member) => isTame(member, depth - 1))
}
/** `undefined` members are allowed, because JSON.stringify omits them. */
const SCALARS: ReadonlySet<string> = new Set(['string', 'boolean', 'object', 'undefined'])

function parse(text: Json, size: JsonSize | null): Json {
  if (typeof text !== 'string' || size === null) return null
  if (text.trim() === '') return {}
  // Parsing deeply nested text needs more time and memory than its length suggests.
  if (size.depth > MAX_JSON_DEPTH) return null
  // JSON.parse would silently drop one value of a duplicate key.
  return jsonFault(text) === null ? (JSON.parse(text) as Json) : null
}
