import { byteLength, headOf } from '../../calls/bounded.ts'
import type { Cut } from '../../calls/model-call.ts'

// Bounds of one model answer. Adapters keep them while an answer streams, the runtime for every provider.

/** The content of one answer, UTF-8 bytes. */
export const MAX_ANSWER_BYTES = 8 << 20
/** The arguments of one call, UTF-8 bytes of JSON. */
export const MAX_ARGUMENT_BYTES = 1 << 20
/** Levels of arrays and objects in the arguments of one call. */
export const MAX_ARGUMENT_DEPTH = 100
/** JSON values in the arguments of all calls of one answer: each is looked through, checked and hashed. */
export const MAX_ARGUMENT_VALUES = 20_000
/** Calls of one answer. */
export const MAX_CALLS = 128
/** Content blocks of one answer. */
export const MAX_BLOCKS = 1_024
/** Names and ids that a provider makes: of models, requests, tools and calls. In characters. */
export const MAX_NAME = 256

export { CUTS, type Cut } from '../../calls/model-call.ts'

/** Where an answer was cut off, in words. */
export const CUT_AT: Readonly<Record<Cut, string>> = {
  bytes: 'at 8 MiB',
  calls: `after ${MAX_CALLS} tool calls`,
  blocks: `after ${MAX_BLOCKS} content blocks`,
  depth: 'where it was nested too deeply',
}

/** Text of arguments as it is kept: of a longer one just enough for it to be seen to be too long. */
export const keptArguments = (text: string): string =>
  byteLength(text) > MAX_ARGUMENT_BYTES ? headOf(text, MAX_ARGUMENT_BYTES + 4) : text

/** A name or id as it is kept. */
export const keptName = (name: string): string =>
  name.length > MAX_NAME ? name.slice(0, MAX_NAME).toWellFormed() : name
