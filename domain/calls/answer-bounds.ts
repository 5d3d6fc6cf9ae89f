import type { Cut } from './model-call.ts'
import { byteLength, headOf } from './truncate.ts'

// Bounds of one model answer. Adapters enforce them while an answer streams, the runtime for every provider.

/** Content of one answer, in UTF-8 bytes. */
export const MAX_ANSWER_BYTES = 8 << 20
/** Arguments of one call as JSON text, in UTF-8 bytes. */
export const MAX_ARGUMENT_BYTES = 1 << 20
/** Nesting levels of arrays and objects in the arguments of one call. */
export const MAX_ARGUMENT_DEPTH = 100
/** JSON values in the arguments of all calls of one answer. The runtime parses, checks and hashes each value. */
export const MAX_ARGUMENT_VALUES = 20_000
export const MAX_CALLS = 128
export const MAX_BLOCKS = 1_024
/** Length of a name or id that a provider chooses (model, request, tool, call), in characters. */
export const MAX_NAME = 256

/** The place where an answer was cut off, as part of a sentence. */
export const CUT_AT: Readonly<Record<Cut, string>> = {
  bytes: 'at 8 MiB',
  calls: `after ${MAX_CALLS} tool calls`,
  blocks: `after ${MAX_BLOCKS} content blocks`,
  depth: 'where it was nested too deeply',
}

/**
 * Arguments as stored. Text beyond {@link MAX_ARGUMENT_BYTES} is truncated to a few bytes more than the bound, so that
 * readers still see that it is too long.
 */
export const keptArguments = (text: string): string =>
  byteLength(text) > MAX_ARGUMENT_BYTES ? headOf(text, MAX_ARGUMENT_BYTES + 4) : text

export const keptName = (name: string): string =>
  name.length > MAX_NAME ? name.slice(0, MAX_NAME).toWellFormed() : name
