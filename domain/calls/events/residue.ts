import { sha256 } from '../../log/ids.ts'
import type { Block } from '../content.ts'
import { UNKNOWN_TOOL } from '../tools/tools.ts'
import type { Failure, PlannedCall } from './event-parts.ts'
import type { CallBodyOf, CallEventType } from './events.ts'

// The part of calls that remains after an erasure: names, codes, numbers and hashes, without the text of people, models
// and tools.

/** Replaces erased text. The model of a fork reads it too. */
export const ERASED = '[erased]'

type Residues = { readonly [T in CallEventType]?: (body: CallBodyOf<T>) => CallBodyOf<T> }

export const callResidues = {
  tool_call_retry: ({ signature: _, error, ...rest }) => ({ ...rest, error: erasedFailure(error) }),
  tool_call_unknown: (body) => ({ ...body, reason: ERASED }),
  tool_call_resolved: ({ decision, result }) => ({ decision, ...(result === undefined ? {} : { result: ERASED }) }),
  tool_call_end: ({ step, toolName, success, attempt, durationMs, tested, documents, reused, result, error }) => ({
    ...{ step, toolName, success, attempt, durationMs },
    ...(tested === undefined ? {} : { tested }),
    ...(documents === undefined ? {} : { documents }),
    ...(reused === undefined ? {} : { reused }),
    ...outcome(result, error),
  }),
  late_outcome: ({ result, attachment: _, error, ...rest }) => ({ ...rest, ...outcome(result, error) }),
  approval_requested: (body) => ({ ...body, reason: ERASED }),
  approval_decided: ({ reason: _, files: __, ...rest }) => rest,
  approval_supported: ({ reason: _, ...rest }) => rest,
  approval_voided: (body) => ({ ...body, reason: ERASED }),
  standing_approval: ({ tools }) => ({ tools }),
} as const satisfies Residues

export const erasedCall = ({ refused, askedName: _, secrets, ...call }: PlannedCall): PlannedCall => ({
  ...call,
  ...(secrets && { secrets: secrets.map(({ name, reference }) => ({ name, reference })) }),
  reads: [],
  writes: [],
  ...(refused && { refused: erasedFailure(refused) }),
})

/**
 * Blocks keep their index, because calls refer to it. A call keeps its name if the tool exists. A
 * block that contains only numbers has no text to erase. `id`: replaces the id of a call, because some models derive ids
 * from names.
 */
export function erasedBlock(block: Block, call: PlannedCall | undefined, id: string): Block {
  const { type, ...rest } = block
  if (type !== 'tool_use') {
    const numbers = Object.values(rest).every((member) => typeof member === 'number')
    return numbers ? block : { type: 'text', text: ERASED }
  }
  const known = call !== undefined && call.toolName !== UNKNOWN_TOOL
  return { type: 'tool_use', id, name: known ? (block.name ?? '') : UNKNOWN_TOOL, input: {} }
}

/** The id of an erased call in a model's answer. `bodyHash`: of the answer's body. */
export const erasedId = (bodyHash: string, block: number): string => sha256(`${bodyHash}:${block}`).slice(0, 32)

export const erasedFailure = (failure: Failure): Failure => ({ ...failure, message: ERASED })

const outcome = (result: unknown, error: Failure | undefined) => ({
  ...(result === undefined ? {} : { result: ERASED }),
  ...(error && { error: erasedFailure(error) }),
})
