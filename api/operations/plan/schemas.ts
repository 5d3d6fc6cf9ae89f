import { z } from 'zod'
import { Task } from '../../../domain/agent/tasks/events.ts'
import { Id } from '../schemas.ts'

export const PlanQuery = z.strictObject({ agent: Id.optional() })

const Version = z.strictObject({
  agentId: z.string(),
  version: z.int().positive().meta({ description: 'Counted from 1 for each agent' }),
  artifactId: z.string(),
  title: z.string().nullable(),
  content: z.string().nullable().meta({ description: 'Null: it was erased' }),
  createdAt: z.string(),
  file: z.string().nullable().meta({ description: 'Its copy in the data folder; null: this process keeps none' }),
})

export const PlanView = z
  .strictObject({
    runId: z.string(),
    agentId: z.string(),
    revision: z.int().meta({ description: 'Of the agent whose tasks these are' }),
    tasks: z.array(Task).meta({ description: 'The task graph, in the order in which tasks were added' }),
    plans: z
      .array(Version)
      .meta({ description: 'Every version of the plans of all agents of the run, the oldest first' }),
  })
  .meta({ id: 'Plan' })
export type PlanView = z.infer<typeof PlanView>
