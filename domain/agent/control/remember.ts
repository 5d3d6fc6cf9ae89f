import { z } from 'zod'
import { byteLength } from '../../calls/bounded.ts'
import { FACT_BYTES, SCOPES } from '../../memory/fact.ts'
import { placeIn } from '../../memory/request.ts'
import type { AgentState } from '../state/state.ts'
import { controlTool, nonBlank } from './control-tool.ts'

export const Scope = z.enum(SCOPES)

/** Identifies the run and workspace whose facts an agent can access. */
export const reachOf = ({ runId, spec }: AgentState) => ({ runId, workspace: spec.workspace?.path ?? null })

const schema = z.strictObject({
  text: nonBlank
    .refine((text) => byteLength(text) <= FACT_BYTES, { error: `at most ${FACT_BYTES} bytes` })
    .describe(`One fact in words that can be understood alone; at most ${FACT_BYTES} bytes.`),
  scope: Scope.default('run').describe(
    'Which agents find it: those of this run (the default), of all runs in this workspace, or of all runs.',
  ),
})

/** Saves a fact (seed 001). The write carries the call id, so that a repeated attempt saves the fact only once. */
export const remember = controlTool({
  name: 'remember',
  description: 'Saves a fact for later: beyond your conversation, and for other agents. Save no secrets.',
  schema,
  kind: 'continues',
  needsTools: true,
  refusal: (state, { scope }) =>
    placeIn(reachOf(state), scope) === null ? 'scope: this run has no workspace; use "run" or "global"' : null,
  examine: (state, _, { text, scope }) => ({
    memory: { kind: 'remember', text, ...placeIn(reachOf(state), scope)! },
  }),
  decide: (_, __, ___, { memory }) => ({ events: [], end: { content: memory ?? null } }),
})
