import { z } from 'zod'
import { byteLength } from '../truncate.ts'
import {
  FACT_BYTES,
  type FactOwner,
  FOUND,
  MEMORY_ID,
  type MemoryRequest,
  MOST_FOUND,
  placeIn,
  QUERY_LENGTH,
  type Reach,
  SCOPES,
} from './request.ts'

// The tools that save and find facts (seed 001), for keepup agents and external agents.

interface Definition<Input> {
  readonly name: string
  readonly description: string
  readonly schema: z.ZodType<Input>
  /** Why the call is refused before it starts, or null. */
  refusal?(reach: Reach, input: Input): string | null
  request(reach: Reach, input: Input): MemoryRequest
}

/** A memory tool with any input type. `input` is always the output of the tool's own `schema`. */
export type MemoryTool = Definition<unknown>

const memoryTool = <Input>(definition: Definition<Input>): MemoryTool => definition as MemoryTool

const NO_WORKSPACE = 'scope: this run has no workspace; use "run" or "global"'

const Scope = z.enum(SCOPES)

/** The places that an agent can access. */
const placesOf = (reach: Reach): FactOwner[] => SCOPES.flatMap((scope) => placeIn(reach, scope) ?? [])

/** Saves a fact. The write carries the call id, so that a repeated attempt saves the fact only once. */
export const remember = memoryTool({
  name: 'remember',
  description: 'Saves a fact for later: beyond your conversation, and for other agents. Save no secrets.',
  schema: z.strictObject({
    text: z
      .string()
      .trim()
      .min(1)
      .refine((text) => byteLength(text) <= FACT_BYTES, { error: `at most ${FACT_BYTES} bytes` })
      .describe(`One fact in words that can be understood alone; at most ${FACT_BYTES} bytes.`),
    scope: Scope.default('run').describe(
      'Which agents find it: those of this run (the default), of all runs in this workspace, or of all runs.',
    ),
  }),
  refusal: (reach, { scope }) => (placeIn(reach, scope) === null ? NO_WORKSPACE : null),
  request: (reach, { text, scope }) => ({ kind: 'remember', text, ...placeIn(reach, scope)! }),
})

/** Finds facts. The result of the call is the record, so that replay needs no index. */
export const recall = memoryTool({
  name: 'recall',
  description: 'Finds facts that were saved by remember: of this run, of this workspace, and of all runs.',
  schema: z.strictObject({
    query: z
      .string()
      .trim()
      .max(QUERY_LENGTH)
      .default('')
      .describe('Words of the facts, also their beginnings; the best matches come first. None: the latest facts.'),
    scope: Scope.optional().describe('Only facts of this scope; absent: all that you reach.'),
    limit: z.int().min(1).max(MOST_FOUND).default(FOUND).describe(`How many facts, at most ${MOST_FOUND}.`),
  }),
  refusal: (reach, { scope }) => (scope !== undefined && placeIn(reach, scope) === null ? NO_WORKSPACE : null),
  request: (reach, { query, scope, limit }) => {
    const places = placesOf(reach).filter((one) => scope === undefined || one.scope === scope)
    return { kind: 'recall', places, query, limit }
  },
})

/** Deletes a fact, so that no agent finds it any more. */
export const forget = memoryTool({
  name: 'forget',
  description: 'Forgets a fact that is wrong or of no more use. No agent finds it any more.',
  schema: z.strictObject({
    id: z.string().regex(MEMORY_ID, { error: 'expected the id of a fact, as remember and recall show it' }),
  }),
  request: (reach, { id }) => ({ kind: 'forget', id, places: placesOf(reach) }),
})

export const MEMORY_TOOLS: readonly MemoryTool[] = [remember, recall, forget]

export const memoryToolNamed = (name: string): MemoryTool | undefined => MEMORY_TOOLS.find((tool) => tool.name === name)

/** The run and workspace whose facts an agent can access. */
export const reachOf = ({
  runId,
  spec,
}: {
  readonly runId: string
  readonly spec: { readonly workspace: { readonly path: string } | null }
}): Reach => ({ runId, workspace: spec.workspace?.path ?? null })
