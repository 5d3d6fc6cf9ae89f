import { z } from 'zod'
import { operation } from '../operation.ts'
import { Digits, Id } from '../schemas.ts'
import { Models, RoutingDecisions } from './schemas.ts'

/** The models, and the router's decisions. */
export const MODEL_OPERATIONS = [
  operation({
    name: 'listModels',
    http: 'GET /v1/models',
    right: 'system.read',
    summary: 'The models, with prices, capabilities and health, and the current choice among them',
    input: {},
    output: Models,
    answers: { 200: 'Models' },
    run: async (s) => s.models(),
  }),
  operation({
    name: 'getRouting',
    http: 'GET /v1/runs/{id}/turns/{turn}/routing',
    right: 'runs.read',
    summary:
      'Why a turn had its model: the rule that matched, the models that it allows, why each was refused; and which permissions let its calls through',
    input: {
      params: z.object({ id: Id, turn: Digits.pipe(z.int().positive()) }),
      query: z.strictObject({ agent: Id.optional() }),
    },
    output: RoutingDecisions,
    answers: { 200: 'The decisions before each model call of the turn' },
    run: async (s, { params: { id, turn }, query: { agent: agentId = id } }) => {
      const found = await s.runtime.routing(agentId, turn)
      const decisions = found.map(({ at, ...rest }) => ({ ...rest, timestamp: new Date(at).toISOString() }))
      return { runId: id, agentId, turn, decisions, permitted: await s.runtime.permitted(agentId, turn) }
    },
  }),
] as const
