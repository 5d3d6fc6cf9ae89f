import { z } from 'zod'
import { operation } from '../operation.ts'
import { notFound } from '../problem.ts'
import { Id } from '../schemas.ts'
import { agentViews } from './list-agents.ts'
import { AgentKind, AgentList, EditsQuery, ReportedEdits } from './schemas.ts'

/** Kinds of agents. */
export const EXTERNAL_OPERATIONS = [
  operation({
    name: 'listAgents',
    http: 'GET /v1/agents',
    right: 'system.read',
    summary: 'The kinds of agents that a run may ask for, what each can do, and what of it is installed here',
    input: {},
    output: AgentList,
    answers: { 200: 'Agents' },
    run: async (s) => ({ agents: await agentViews(s) }),
  }),
  operation({
    name: 'getAgent',
    http: 'GET /v1/agents/{kind}',
    right: 'system.read',
    summary: 'A kind of agent: what it can do, and what of it is installed here',
    input: { params: z.object({ kind: Id }) },
    output: AgentKind,
    answers: { 200: 'The agent' },
    run: async (s, { params: { kind } }) => {
      const [found] = await agentViews(s, kind)
      if (found === undefined) throw notFound('agent', kind, 'GET /v1/agents (keepup agents list) lists the kinds')
      return found
    },
  }),
  operation({
    name: 'listReportedEdits',
    http: 'GET /v1/agents/{id}/edits',
    right: 'bodies.read',
    summary: 'The file edits that an agent other than keepup has reported, with their differences',
    input: { params: z.object({ id: Id }), query: EditsQuery },
    output: ReportedEdits,
    answers: { 200: 'The newest 1,000 edits, in the order of the calls' },
    run: async (s, { params: { id }, query: { event } }) =>
      // The library that compares texts is only needed here.
      (await import('./list-edits.ts')).listEdits(s, id, event),
  }),
] as const
