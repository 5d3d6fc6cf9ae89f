import { z } from 'zod'
import type { JsonObject } from '../log/json.ts'

// Content blocks, token counts and messages. Providers, events and ports share these shapes.

/**
 * A content block of a provider, kept verbatim with unknown kinds and members (thinking signatures, citations).
 * `tool_use.input` is the parsed argument object. A provider that sent text, which may not be JSON, gives `input_text`
 * instead.
 */
export type Block =
  | ({ readonly type: 'text'; readonly text: string } & JsonObject)
  | ({ readonly type: 'tool_use'; readonly id: string; readonly name: string } & JsonObject)
  | ({ readonly type: string } & JsonObject)

export const Block: z.ZodType<Block> = z.looseObject({ type: z.string() }) as z.ZodType<Block>

/** Tokens of one or more model calls. `input` counts uncached input only; the four counts are disjoint. */
export interface Usage {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

/** All input tokens, cached or not. */
export const inputOf = ({ input, cacheRead, cacheWrite }: Usage): number => input + cacheRead + cacheWrite

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
