import type { Block } from './content.ts'
import type { BodyOf, EventType, Failure } from './events.ts'

// What an erasure leaves of a body: all that the fold needs (names, codes, numbers, hashes) and none of what people, models
// and tools have said. A history that was erased from is folded from it to the very digests that were recorded.

/** Stands where text was erased; the model of a fork reads it too. */
export const ERASED = '[erased]'

type Residues = { readonly [T in EventType]?: (body: BodyOf<T>) => BodyOf<T> }

/** Types that are not named hold nothing that anybody said. */
const residues: Residues = {
  agent_started: ({ spec, ...rest }) => {
    const instructions = spec.instructions === undefined ? {} : { instructions: ERASED }
    return { ...rest, spec: { ...spec, contextVariables: {}, ...instructions } }
  },
  user_input: () => ({ text: ERASED }),
  model_call_end: (body) => ({
    ...body,
    content: body.content.map(erasedBlock),
    calls: body.calls.map(({ refused, ...call }) => ({ ...call, reads: [], writes: [], ...failure({ refused }) })),
  }),
  tool_call_retry: ({ signature: _, error, ...rest }) => ({ ...rest, error: { ...error, message: ERASED } }),
  tool_call_unknown: (body) => ({ ...body, reason: ERASED }),
  tool_call_resolved: ({ decision, result }) => ({ decision, ...(result === undefined ? {} : { result: ERASED }) }),
  tool_call_end: ({ step, toolName, success, attempt, durationMs, tested, result, error }) => ({
    ...{ step, toolName, success, attempt, durationMs },
    ...(tested === undefined ? {} : { tested }),
    ...outcome(result, error),
  }),
  late_outcome: ({ result, error, ...rest }) => ({ ...rest, ...outcome(result, error) }),
  approval_requested: (body) => ({ ...body, reason: ERASED }),
  approval_decided: ({ reason: _, ...rest }) => rest,
  standing_approval: ({ tools }) => ({ tools }),
  workspace_versioned: (body) =>
    'tree' in body ? body : { step: body.step, unversioned: { ...body.unversioned, message: ERASED } },
  context_set: (body) => ('given' in body ? { key: ERASED, given: body.given } : { key: ERASED, value: ERASED }),
  artifact_registered: ({ artifact: { id, type } }) => ({ artifact: { id, type } }),
  gate_checked: (body) => ({ ...body, evidence: ERASED }),
  phase_advanced: (body) => ({ ...body, summary: ERASED }),
  recovery: (body) => {
    if (body.phase === 'final_warning') return { ...body, warning: ERASED }
    return body.phase === 'failed' ? { ...body, reason: ERASED } : body
  },
  completion: ({ unmetGates, unreadInput }) => ({ summary: ERASED, artifacts: [], unmetGates, unreadInput }),
  error: ({ partialOutput: _, ...rest }) => ({ ...rest, error: ERASED }),
  paused: () => ({}),
  cancel_requested: ({ deadlineMs }) => ({ deadlineMs }),
  workspace_drifted: (body) => ({ ...body, changed: [] }),
}

/** What is left of an event's body, in the shape of its type's current version. */
export function residueOf<T extends EventType>(type: T, body: BodyOf<T>): BodyOf<T> {
  return residues[type]?.(body) ?? body
}

/**
 * Blocks keep their places, because calls name them by index; calls keep what pairs them with their results, and a block
 * of numbers says nothing.
 */
function erasedBlock(block: Block): Block {
  const { type, ...rest } = block
  if (type !== 'tool_use') {
    const numbers = Object.values(rest).every((member) => typeof member === 'number')
    return numbers ? block : { type: 'text', text: ERASED }
  }
  return { type: 'tool_use', id: block.id ?? '', name: block.name ?? '', input: {} }
}

const failure = <K extends string>(given: { readonly [P in K]: Failure | undefined }): { [P in K]?: Failure } =>
  Object.fromEntries(
    Object.entries<Failure | undefined>(given).flatMap(([key, said]) =>
      said === undefined ? [] : [[key, { ...said, message: ERASED }]],
    ),
  ) as never

const outcome = (result: unknown, error: Failure | undefined) => ({
  ...(result === undefined ? {} : { result: ERASED }),
  ...failure({ error }),
})
