import { z } from 'zod'
import { agentBodies } from '../../../domain/agent/events/events.ts'
import { HealthFigures } from '../../../domain/agent/routing/decision.ts'
import { PermissionScope } from '../../../domain/calls/events/permissions.ts'
import { ModelInfo } from '../../../domain/tree/spec.ts'

/** A decision of the router: seed 000, 5.7, with the purpose, the rule and the figures behind it. */
const RoutingDecision = agentBodies.model_routed.meta({
  id: 'ModelRoutingDecision',
  description: 'Why a turn had its model',
})

/** A model with its price (nano-dollars per million tokens), capabilities and health. */
export const Model = ModelInfo.extend({
  figures: HealthFigures.nullable().meta({ description: 'Of the process that answers; null: it has seen no call' }),
}).meta({ id: 'Model', description: 'A model with its price, its capabilities and its health' })

export const Models = z
  .strictObject({
    models: z.array(Model).readonly(),
    choice: RoutingDecision.meta({ description: 'What a run that names no model would begin its next turn with' }),
  })
  .meta({ id: 'Models' })
export type Models = z.infer<typeof Models>

const PermittedCall = z.strictObject({
  toolCallId: z.string(),
  toolName: z.string(),
  permission: z.string().meta({ description: 'The call that had asked for the permission' }),
  ran: z.boolean().meta({ description: 'false: it has not begun' }),
  granted: z
    .strictObject({
      tool: z.string(),
      scope: PermissionScope,
      until: z.string(),
      reason: z.string(),
      by: z.string().nullable(),
    })
    .nullable()
    .meta({ description: 'null: erased' }),
})

export const RoutingDecisions = z
  .strictObject({
    runId: z.string(),
    agentId: z.string(),
    turn: z.int(),
    decisions: z.array(z.strictObject({ revision: z.int(), timestamp: z.string(), decision: RoutingDecision })),
    permitted: z
      .array(PermittedCall)
      .meta({ description: 'Calls that the policy refuses and that have taken up a permission' }),
  })
  .meta({ id: 'RoutingDecisions' })
export type RoutingDecisions = z.infer<typeof RoutingDecisions>
