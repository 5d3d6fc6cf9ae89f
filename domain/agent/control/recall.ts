import { z } from 'zod'
import { FOUND, MOST_FOUND, type Place, QUERY_LENGTH, SCOPES } from '../../memory/fact.ts'
import { placeIn } from '../../memory/request.ts'
import type { AgentState } from '../state/state.ts'
import { controlTool } from './control-tool.ts'
import { reachOf, Scope } from './remember.ts'

const schema = z.strictObject({
  query: z
    .string()
    .trim()
    .max(QUERY_LENGTH)
    .default('')
    .describe('Words of the facts, also their beginnings; the best matches come first. None: the latest facts.'),
  scope: Scope.optional().describe('Only facts of this scope; absent: all that you reach.'),
  limit: z.int().min(1).max(MOST_FOUND).default(FOUND).describe(`How many facts, at most ${MOST_FOUND}.`),
})

/** The places that an agent can access. */
export const placesOf = (state: AgentState): Place[] => SCOPES.flatMap((scope) => placeIn(reachOf(state), scope) ?? [])

/** Finds facts (seed 001). The result of the call is the record, so that replay needs no index. */
export const recall = controlTool({
  name: 'recall',
  description: 'Finds facts that were saved by remember: of this run, of this workspace, and of all runs.',
  schema,
  kind: 'continues',
  needsTools: true,
  refusal: (state, { scope }) =>
    scope !== undefined && placeIn(reachOf(state), scope) === null
      ? 'scope: this run has no workspace; use "run" or "global"'
      : null,
  examine: (state, _, { query, scope, limit }) => {
    const places = placesOf(state).filter((one) => scope === undefined || one.scope === scope)
    return { memory: { kind: 'recall', places, query, limit } }
  },
  decide: (_, __, ___, { memory }) => ({ events: [], end: { content: memory ?? null } }),
})
