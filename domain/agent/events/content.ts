import { byteLength } from '../../calls/bounded.ts'
import type { Block } from '../../calls/content.ts'
import type { Json, JsonObject } from '../../log/json.ts'
import { jsonFault } from '../../log/json-fault.ts'
import { type JsonSize, jsonSize } from '../../log/json-size.ts'
import { MAX_ARGUMENT_BYTES, MAX_ARGUMENT_DEPTH, MAX_ARGUMENT_VALUES } from './answer-bounds.ts'

export { Block, type Message, Usage } from '../../calls/content.ts'

/** A tool call as the model asked for it. */
export interface RequestedCall {
  /** Index of the block in the content. */
  readonly block: number
  readonly providerId: string
  readonly name: string
  /** Null: the arguments are no JSON object of which readers make the same, or beyond the bounds of an answer. */
  readonly arguments: JsonObject | null
  /** Which bound they are beyond, as a sentence; absent: none. */
  readonly beyond?: string
}

/** Cache of the values read from content, which never changes: reading megabytes of arguments takes long. */
const read = new WeakMap<readonly Block[], readonly RequestedCall[]>()

/** The calls in some content, in order. The same content is read once. */
export function requestedCalls(content: readonly Block[]): readonly RequestedCall[] {
  const known = read.get(content)
  if (known !== undefined) return known
  const reading = readCalls(content)
  for (;;) {
    const step = reading.next()
    if (step.done) return step.value
  }
}

/** {@link requestedCalls} in steps, one for each call, so that a caller may let others run between them. */
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

/** The arguments of a block as text, and its size; empty where they are nothing that could be written as JSON. */
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

/** The text of some content: its text blocks, joined. */
export function textOf(content: readonly Block[]): string {
  return content
    .filter((b) => b.type === 'text' && typeof b.text === 'string')
    .map((b) => b.text)
    .join('\n')
    .trim()
}

/**
 * The argument object of a `tool_use` block; null where it is none, has a key twice, is nested too deep to be handled safely,
 * or holds more values than an answer may: no call ran with such arguments, and parsing them at every turn takes long. Reads
 * what is stored: the other bounds of new answers ({@link requestedCalls}) do not hold here.
 */
export function callArguments(block: Block): JsonObject | null {
  const raw = block.input_text
  const size = typeof raw === 'string' ? jsonSize(raw) : null
  return size !== null && size.values > MAX_ARGUMENT_VALUES ? null : objectOf(block, size)
}

/** `size`: that of the text that stands instead of the object. */
function objectOf(block: Block, size: JsonSize | null): JsonObject | null {
  const raw: Json | undefined = 'input_text' in block ? parse(block.input_text as Json, size) : block.input
  const object = raw !== null && typeof raw === 'object' && !Array.isArray(raw) ? (raw as JsonObject) : null
  return object !== null && isTame(object) ? object : null
}

/** JSON of models and tools may be nested so deep; arguments of calls lie in their blocks. */
export const MAX_DEPTH = 128

/**
 * Has the value only finite numbers (JSON text may contain 1e999), and no more than `depth` levels, so that recursion
 * over it is safe?
 */
export function isTame(value: unknown, depth = MAX_DEPTH): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (value === null || typeof value !== 'object') return SCALARS.has(typeof value)
  return depth > 0 && Object.values(value).every((member) => isTame(member, depth - 1))
}
/** A member that is undefined is not written. */
const SCALARS: ReadonlySet<string> = new Set(['string', 'boolean', 'object', 'undefined'])

function parse(text: Json, size: JsonSize | null): Json {
  if (typeof text !== 'string' || size === null) return null
  if (text.trim() === '') return {}
  // Parsing what is nested very deep takes more than its length.
  if (size.depth > MAX_DEPTH) return null
  // A key that stands twice says two things, of which a parser hides one.
  return jsonFault(text) === null ? (JSON.parse(text) as Json) : null
}
