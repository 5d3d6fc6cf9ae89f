import { z } from 'zod'
import { Digits } from '../schemas.ts'

/** A kind of agent for runs. */
export const AgentKind = z
  .strictObject({
    kind: z.string(),
    ungoverned: z.boolean().meta({ description: 'Our policy sees nothing of what such an agent does' }),
    capabilities: z.array(z.string()).readonly(),
    installed: z.boolean(),
    version: z.string().nullable().meta({ description: 'null: its program tells none' }),
    login: z.enum(['found', 'missing', 'unknown']).meta({
      description: 'Whether a key or a login of its program was found here; the service itself is not asked',
    }),
    loginAt: z.string().nullable().meta({ description: 'The variable or file that holds it' }),
    problem: z.string().nullable().meta({ description: 'Why it cannot be used, and what to do' }),
  })
  .meta({ id: 'AgentKind', description: "A kind of another maker's agent, and whether its program can be used here" })
export type AgentKind = z.infer<typeof AgentKind>

export const AgentList = z.strictObject({ agents: z.array(AgentKind).readonly() }).meta({ id: 'AgentKindList' })

/** File edits that an external agent has reported. `revision`: of the event with the edit. */
export const ReportedEdits = z
  .strictObject({
    agentId: z.string(),
    edits: z.array(
      z.strictObject({
        revision: z.int(),
        path: z.string().meta({ description: 'As the agent names it' }),
        patch: z.string().nullable().meta({ description: 'A unified diff; null: the agent reports none' }),
        tooLong: z
          .literal(true)
          .optional()
          .meta({ description: 'The agent reports texts that are too long to compare, or too different' }),
        success: z.boolean().nullable().meta({ description: 'null: the call has no result yet' }),
      }),
    ),
    more: z.boolean().meta({ description: 'There are older edits' }),
  })
  .meta({ id: 'ReportedEdits' })
export type ReportedEdits = z.infer<typeof ReportedEdits>

export const EditsQuery = z.strictObject({
  event: Digits.optional().meta({ type: 'integer', description: 'Up to this revision; absent: all' }),
})
