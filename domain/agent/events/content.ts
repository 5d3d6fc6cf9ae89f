import { z } from 'zod'
import type { Json, JsonObject } from '../../log/json.ts'
import { jsonFault } from '../../log/json-fault.ts'

/**
 * A content block as the provider gave it, kept verbatim: unknown kinds and members stay (thinking signatures, citations).
 * `tool_use.input` is the parsed argument object; `input_text` stands instead where the provider sent text (it may be no
 * JSON at all).
 */
export type Block =
  | ({ readonly type: 'text'; readonly text: string } & JsonObject)
  | ({ readonly type: 'tool_use'; readonly id: string; readonly name: string } & JsonObject)
  | ({ readonly type: string } & JsonObject)

export const Block: z.ZodType<Block> = z.looseObject({ type: z.string() }) as never

/** Tokens of one or more model calls. `input` counts uncached input only; the four are disjoint. */
export interface Usage {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

export const Usage = z.strictObject({
  input: z.int().nonnegative(),
  output: z.int().nonnegative(),
  cacheRead: z.int().nonnegative(),
  cacheWrite: z.int().nonnegative(),
})

/** A message as the model sees it. Computed from events, never stored. */
export type Message =
  | { readonly role: 'user'; readonly content: string }
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: readonly Block[] }
  | {
      readonly role: 'tool'
      readonly toolCallId: string
      /** The provider's own id of the call, used on the wire. */
      readonly providerCallId: string
      readonly toolName: string
      readonly content: string
      readonly isError: boolean
    }

/** A tool call as the model asked for it (CONTRACTS: our id, the provider's beside it). */
export interface RequestedCall {
  /** Index of the block in the content. */
  readonly block: number
  readonly providerId: string
  readonly name: string
  /** Null: the arguments are no JSON object of which readers make the same. */
  readonly arguments: JsonObject | null
}

/** The calls in some content, in order. */
export function requestedCalls(content: readonly Block[]): RequestedCall[] {
  const calls: RequestedCall[] = []
  content.forEach((block, index) => {
    if (block.type !== 'tool_use') return
    calls.push({
      block: index,
      providerId: typeof block.id === 'string' ? block.id : '',
      name: typeof block.name === 'string' ? block.name : '',
      arguments: callArguments(block),
    })
  })
  return calls
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
 * The argument object of a `tool_use` block; null where it is none, has a key twice, or is nested too deep to be handled
 * safely.
 */
export function callArguments(block: Block): JsonObject | null {
  const raw: Json | undefined = 'input_text' in block ? parse(block.input_text as Json) : block.input
  const object = raw !== null && typeof raw === 'object' && !Array.isArray(raw) ? (raw as JsonObject) : null
  return object !== null && isTame(object) ? object : null
}

/** JSON of models and tools may be nested so deep; arguments of calls lie in their blocks. */
export const MAX_DEPTH = 128

/** Finite numbers only (JSON text may say 1e999), and no deeper than `depth`: what is deeper exhausts whoever walks it. */
export function isTame(value: unknown, depth = MAX_DEPTH): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (value === null || typeof value !== 'object') return SCALARS.has(typeof value)
  return depth > 0 && Object.values(value).every((member) => isTame(member, depth - 1))
}
/** A member that is undefined is not written. */
const SCALARS: ReadonlySet<string> = new Set(['string', 'boolean', 'object', 'undefined'])

function parse(text: Json): Json {
  if (typeof text !== 'string') return null
  if (text.trim() === '') return {}
  // A key that stands twice says two things, of which a parser hides one.
  return jsonFault(text) === null ? (JSON.parse(text) as Json) : null
}
