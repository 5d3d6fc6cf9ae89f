import { z } from 'zod'
import { openGates } from '../state/phases.ts'
import { recoveryOf } from '../state/state.ts'
import { artifactEvents, artifactsFault, controlTool, gateEvents, nonBlank } from './control-tool.ts'

/** Seed 000, 5.1. Other keys are rejected; strings are trimmed, `artifacts` deduplicated. */
const schema = z.strictObject({
  summary: nonBlank.describe('The final answer: what was done and what came of it.'),
  artifacts: z
    .array(nonBlank)
    .transform((paths) => [...new Set(paths)])
    .optional()
    .describe('Paths of files that the work produced, relative to the workspace.'),
  nextSteps: nonBlank.optional().describe('What should be done next, if anything.'),
})
/** The arguments of the tool `complete_task` (seed 000, 5.1). */
export type CompleteTaskInput = z.input<typeof schema>

/** The only way to DONE. During recovery, gates are not required and unread input is ignored. */
export const completeTask = controlTool({
  name: 'complete_task',
  description: 'Ends the task with its result. The only way to finish. Must be the only call of its turn.',
  schema,
  kind: 'completes',
  alone: 'COMPLETION_NOT_ALONE',
  refusal: (_, input) => artifactsFault(input),
  examine: (state, _, { artifacts = [] }) => ({ gates: openGates(state), files: artifacts }),
  decide: (state, _, { summary, artifacts = [], nextSteps }, findings) => {
    const recovering = recoveryOf(state.machine) !== null
    if (state.unread > 0 && !recovering) {
      const message = 'the user has sent a message that you have not read; it is shown next'
      return { events: [], end: { error: { code: 'CONFLICT', message } } }
    }
    const { events, error } = gateEvents(findings)
    if (error !== null && !recovering) return { events, end: { error } }
    const unmetGates = findings.gates.filter(({ passed }) => !passed).map(({ gate }) => gate)
    const next = nextSteps === undefined ? {} : { nextSteps }
    return {
      events: [...events, ...artifactEvents(findings)],
      end: { content: 'completed' },
      completion: { summary, artifacts, ...next, unmetGates, unreadInput: state.unread },
    }
  },
})
