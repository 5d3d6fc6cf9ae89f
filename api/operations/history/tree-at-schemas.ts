import { z } from 'zod'
import { MachineState, RunStatus } from '../runs/schemas.ts'
import { Digits, Id } from '../schemas.ts'

const count = z.int().nonnegative()

export const TreeAtQuery = z.strictObject({
  agent: Id.optional().meta({ description: 'The agent whose event it is; the root where it is absent' }),
  event: Digits.meta({ type: 'integer', description: 'A revision of that agent' }),
})

/** An agent's state when an event of some agent of the run was appended. */
const AgentThen = z
  .strictObject({
    agentId: z.string(),
    revision: count.meta({ description: 'Of its last event by then' }),
    turn: count,
    step: count.nullable().meta({ description: 'null: of another agent, which has no steps here' }),
    status: RunStatus,
    machineState: MachineState.nullable().meta({ description: 'null: of another agent' }),
    paused: z.boolean(),
    code: z.string().nullable().meta({ description: 'Of one that had failed' }),
  })
  .meta({ id: 'AgentThen', description: 'An agent of a run as it stood at an event' })
export type AgentThen = z.infer<typeof AgentThen>

export const TreeAt = z
  .strictObject({
    runId: z.string(),
    agentId: z.string(),
    revision: count,
    agents: z.array(AgentThen).readonly().meta({ description: 'Those that were born by then' }),
  })
  .meta({ id: 'TreeAt' })
export type TreeAt = z.infer<typeof TreeAt>
