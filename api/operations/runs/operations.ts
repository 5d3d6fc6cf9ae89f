import { z } from 'zod'
import { CommandHeaders, StartHeaders } from '../headers.ts'
import { runTreeAt } from '../history/tree-at.ts'
import { TreeAt, TreeAtQuery } from '../history/tree-at-schemas.ts'
import { operation, WithStatus } from '../operation.ts'
import { Id, Recorded } from '../schemas.ts'
import { RunQuery } from './query-schema.ts'
import { listRuns, runDetail, runTree } from './run-views.ts'
import * as schema from './schemas.ts'
import { startRun } from './start-run.ts'
import { StartByTool, StartRun } from './start-schemas.ts'
import { cancelRun, eraseBodies, liftPause, pauseRun, sendInput } from './steer.ts'
import { verifyRun } from './verify-run.ts'

const params = z.object({ id: Id })
/** The shared members of commands to a run. */
const command = {
  right: 'runs.steer',
  output: Recorded,
  answers: { 200: 'Recorded' },
  revision: ({ revision }: { readonly revision: number }) => revision,
} as const
const headers = CommandHeaders

/** Runs, and the commands of people to them. */
export const RUN_OPERATIONS = [
  operation({
    name: 'startRun',
    http: 'POST /v1/runs',
    right: 'runs.start',
    summary: 'Start a run',
    input: { headers: StartHeaders, body: StartRun },
    output: schema.Started,
    answers: { 201: 'Recorded', 200: 'The same request had started it before' },
    revision: ({ revision }) => revision,
    location: ({ runId }) => `/v1/runs/${runId}`,
    mcp: {
      description: 'Starts a run and drives it; gives its id at once. Ask get_run how it goes on.',
      body: StartByTool,
    },
    run: async (s, { body }, { options, overNetwork }) => {
      const started = await startRun(s, body, options, true, overNetwork)
      return new WithStatus(started.created ? 201 : 200, started)
    },
  }),
  operation({
    name: 'listRuns',
    http: 'GET /v1/runs',
    right: 'runs.read',
    summary: 'Runs, newest first, of which all holds that is asked for',
    input: { query: RunQuery },
    output: schema.RunList,
    answers: { 200: 'A page of runs' },
    awaitsTables: true,
    mcp: {},
    run: (s, { query }) => listRuns(s, query),
  }),
  operation({
    name: 'getRun',
    http: 'GET /v1/runs/{id}',
    right: 'runs.read',
    summary: 'A run, its tree of agents and totals',
    input: { params },
    output: schema.RunDetail,
    answers: { 200: 'The run' },
    awaitsTables: true,
    revision: ({ run }) => run.revision,
    mcp: {
      description:
        'Shows a run: status, usage, and the approvals, questions and unknown outcomes that wait for a person.',
    },
    run: (s, { params }) => runDetail(s, params.id),
  }),
  operation({
    name: 'getRunTree',
    http: 'GET /v1/runs/{id}/tree',
    right: 'runs.read',
    summary: 'The agents of a run: how each one stands, what it waits for, and its money',
    description: 'To follow it, read it again after events of the run: GET /v1/events?run={id}&from=head.',
    input: { params },
    output: schema.RunTree,
    answers: { 200: 'The tree' },
    awaitsTables: true,
    run: (s, { params }) => runTree(s, params.id),
  }),
  operation({
    name: 'getRunTreeAt',
    http: 'GET /v1/runs/{id}/tree/at',
    right: 'runs.read',
    summary: 'The agents of a run as they were when an event was appended: which there were, and their status and turn',
    input: { params, query: TreeAtQuery },
    output: TreeAt,
    answers: { 200: 'The agents that were born by then' },
    awaitsTables: true,
    run: (s, { params: { id }, query: { agent = id, event } }) => runTreeAt(s, id, agent, event),
  }),
  operation({
    ...command,
    name: 'sendInput',
    http: 'POST /v1/runs/{id}/input',
    summary: 'Say something to a run',
    input: { params, headers, body: schema.InputBody },
    mcp: {
      description: 'Says something to a run, or answers its question; the agent reads it at its next turn.',
      drives: true,
    },
    run: (s, { params, body }, { options }) => sendInput(s, params.id, body, options),
  }),
  operation({
    ...command,
    name: 'cancelRun',
    http: 'POST /v1/runs/{id}/cancel',
    summary: 'End a run',
    input: { params, headers, body: schema.CancelBody },
    mcp: {},
    run: (s, { params, body }, { options }) => cancelRun(s, params.id, body, options),
  }),
  operation({
    ...command,
    name: 'pauseRun',
    http: 'POST /v1/runs/{id}/pause',
    summary: 'Start nothing new; what runs, finishes',
    input: { params, headers, body: schema.PauseBody },
    run: (s, { params, body }, { options }) => pauseRun(s, params.id, body, options),
  }),
  operation({
    ...command,
    name: 'resumeRun',
    http: 'POST /v1/runs/{id}/resume',
    summary: 'Lift a pause and go on',
    input: { params, headers, body: schema.ResumeBody },
    run: (s, { params, body }, { options }) => liftPause(s, params.id, 'resume', body, options),
  }),
  operation({
    ...command,
    name: 'stepRun',
    http: 'POST /v1/runs/{id}/step',
    summary: 'Go on to the next end of a turn',
    input: { params, headers, body: schema.ResumeBody },
    run: (s, { params, body }, { options }) => liftPause(s, params.id, 'step', body, options),
  }),
  operation({
    name: 'eraseRun',
    http: 'POST /v1/runs/{id}/erase',
    right: 'runs.erase',
    summary:
      'Empty bodies of events for ever, or tell which; the proof then says "erased". The workspace, the versions of its ' +
      'files, and backups stay',
    input: { params, headers, body: schema.EraseBody },
    output: schema.Erased,
    answers: { 200: 'Recorded, or what would be emptied' },
    revision: ({ revision }) => revision,
    run: (s, { params, body }, { options }) => eraseBodies(s, params.id, body, options),
  }),
  operation({
    name: 'verifyRun',
    http: 'GET /v1/runs/{id}/verify',
    right: 'log.verify',
    summary:
      'Check the chain, the bodies and the digests of every agent of a run, and that children end as was recorded',
    input: { params, query: schema.OneAgent },
    output: schema.VerifiedRun,
    answers: { 200: 'What was found' },
    run: (s, { params, query }) => verifyRun(s, params.id, query.agent),
  }),
] as const
