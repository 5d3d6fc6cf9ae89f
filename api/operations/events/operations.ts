import { z } from 'zod'
import { AgentEventPage, AgentEventsQuery, OutlineQuery, OutlineView } from '../history/outline-schemas.ts'
import { operation } from '../operation.ts'
import { notFound } from '../problem.ts'
import { Id } from '../schemas.ts'
import { agentOutline, runAndStreamOf } from './agent-outline.ts'
import { eventPage } from './event-page.ts'
import { eventSchema, eventTypes } from './event-schemas.ts'
import { runEventPage } from './run-event-page.ts'
import { EventPage, EventSchema, EventTypeList, EventTypeParams, RunEventsQuery } from './schemas.ts'

const params = z.object({ id: Id })

/** The events of runs and agents. By revision, any part of a long history is read without the part before it. */
export const EVENT_OPERATIONS = [
  operation({
    name: 'listRunEvents',
    http: 'GET /v1/runs/{id}/events',
    right: 'bodies.read',
    summary: 'The events of all agents of a run, or of one of them, in the order of the log',
    input: { params, query: RunEventsQuery },
    output: EventPage,
    answers: { 200: 'A page of events' },
    awaitsTables: true,
    mcp: { names: { id: 'runId', agent: 'agentId' } },
    run: (s, { params, query }) => runEventPage(s, params.id, query),
  }),
  operation({
    name: 'listAgentEvents',
    http: 'GET /v1/agents/{id}/events',
    right: 'bodies.read',
    summary: "An agent's own events from a revision on",
    input: { params, query: AgentEventsQuery },
    output: AgentEventPage,
    answers: { 200: 'A page of events' },
    mcp: { names: { id: 'agentId' } },
    run: async (s, { params, query }) => {
      const { stream } = await runAndStreamOf(s, params.id)
      return eventPage(s, stream, query)
    },
  }),
  operation({
    name: 'getAgentOutline',
    http: 'GET /v1/agents/{id}/outline',
    right: 'bodies.read',
    summary: "The types, turns and times of an agent's own events, by revision, without their bodies",
    input: { params, query: OutlineQuery },
    output: OutlineView,
    answers: { 200: 'The outline' },
    awaitsTables: true,
    run: (s, { params, query }) => agentOutline(s, params.id, query),
  }),
  operation({
    name: 'listEventTypes',
    http: 'GET /v1/schemas',
    right: 'self.use',
    summary: 'Every type of event that this keepup writes, with the path of its JSON Schema',
    input: {},
    output: EventTypeList,
    answers: { 200: 'The types' },
    run: async () => ({
      types: eventTypes().map((one) => ({ ...one, schema: `/v1/schemas/${one.kind}/${one.type}/${one.version}` })),
    }),
  }),
  operation({
    name: 'getEventSchema',
    http: 'GET /v1/schemas/{kind}/{type}/{version}',
    right: 'self.use',
    summary: 'The JSON Schema (2020-12) of the body of a type of event. The schema of a version never changes',
    input: { params: EventTypeParams },
    output: EventSchema,
    answers: { 200: 'The schema' },
    async run(_, { params }) {
      const schema = eventSchema(params)
      const name = `${params.kind} ${params.type} ${params.version}`
      if (schema === null) throw notFound('type of event', name, 'GET /v1/schemas lists the types')
      return schema
    },
  }),
] as const
