import { z } from 'zod'
import { continueAgent } from '../external/continue-agent.ts'
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
    answers: { 201: 'Recorded', 200: 'An earlier request with the same key has already started it' },
    revision: ({ revision }) => revision,
    location: ({ runId }) => `/v1/runs/${runId}`,
    mcp: {
      description: 'Starts a run, drives it and returns its id at once. Call get_run to follow its progress.',
      body: StartByTool,
      names: { agent: 'backend' },
      task: true,
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
    summary: 'Runs that match all given filters, newest first',
    input: { query: RunQuery },
    output: schema.RunList,
    answers: { 200: 'A page of runs' },
    awaitsTables: true,
    mcp: {},
    run: (s, { query }, { options }) => listRuns(s, query, options),
  }),
  operation({
    name: 'getRun',
    http: 'GET /v1/runs/{id}',
    right: 'runs.read',
    summary: 'A run with its agents, its totals and the questions that wait for a person',
    input: { params },
    output: schema.RunDetail,
    answers: { 200: 'The run' },
    awaitsTables: true,
    revision: ({ run }) => run.revision,
    mcp: {
      description:
        'Shows a run: status, usage, and the approvals, questions and unknown outcomes that wait for a person.',
      names: { id: 'runId' },
    },
    run: (s, { params }, { options }) => runDetail(s, params.id, options),
  }),
  operation({
    name: 'getRunTree',
    http: 'GET /v1/runs/{id}/tree',
    right: 'runs.read',
    summary: 'The agents of a run, each with its status, what it waits for and its cost',
    description:
      'To follow the tree, open GET /v1/events?run={id}&from=head first. Then read the tree, and read it again after each event.',
    input: { params },
    output: schema.RunTree,
    answers: { 200: 'The tree' },
    awaitsTables: true,
    run: (s, { params }, { options }) => runTree(s, params.id, options),
  }),
  operation({
    name: 'getRunTreeAt',
    http: 'GET /v1/runs/{id}/tree/at',
    right: 'runs.read',
    summary: 'The agents that a run had when an event was appended, with their status and turn at that moment',
    input: { params, query: TreeAtQuery },
    output: TreeAt,
    answers: { 200: 'The agents that existed at that moment' },
    awaitsTables: true,
    run: (s, { params: { id }, query: { agent = id, event } }) => runTreeAt(s, id, agent, event),
  }),
  operation({
    ...command,
    name: 'sendInput',
    http: 'POST /v1/runs/{id}/input',
    summary: 'Send input to an agent of a run, or answer its question',
    input: { params, headers, body: schema.InputBody },
    mcp: {
      description: 'Sends input to a run, or answers its question. The agent reads it at its next turn.',
      names: { id: 'runId', agent: 'agentId' },
      drives: true,
    },
    run: (s, { params, body }, { options }) => sendInput(s, params.id, body, options),
  }),
  operation({
    name: 'continueRun',
    http: 'POST /v1/runs/{id}/continue',
    right: 'runs.start',
    summary: 'Start a run that continues the session of an ended run of another agent with a further task',
    description:
      'The new run has the agent, the folder, the model, the limits and the extensions of the former one. Its cost is its own.',
    input: { params, headers: StartHeaders, body: schema.ContinueRun },
    output: schema.Started,
    answers: { 201: 'Recorded', 200: 'An earlier request with the same key has already started it' },
    revision: ({ revision }) => revision,
    location: ({ runId }) => `/v1/runs/${runId}`,
    run: async (s, { params, body }, { options, overNetwork }) => {
      const started = await continueAgent(s, params.id, body, options, overNetwork)
      return new WithStatus(started.created ? 201 : 200, started)
    },
  }),
  operation({
    ...command,
    name: 'cancelRun',
    http: 'POST /v1/runs/{id}/cancel',
    summary: 'Cancel a run; it then ends as failed, with the error CANCELLED',
    input: { params, headers, body: schema.CancelBody },
    mcp: { names: { id: 'runId' } },
    run: (s, { params, body }, { options }) => cancelRun(s, params.id, body, options),
  }),
  operation({
    ...command,
    name: 'pauseRun',
    http: 'POST /v1/runs/{id}/pause',
    summary: 'Pause a run: it starts nothing new, and what is running finishes',
    input: { params, headers, body: schema.PauseBody },
    run: (s, { params, body }, { options }) => pauseRun(s, params.id, body, options),
  }),
  operation({
    ...command,
    name: 'resumeRun',
    http: 'POST /v1/runs/{id}/resume',
    summary: 'Resume a paused run',
    input: { params, headers, body: schema.ResumeBody },
    run: (s, { params, body }, { options }) => liftPause(s, params.id, 'resume', body, options),
  }),
  operation({
    ...command,
    name: 'stepRun',
    http: 'POST /v1/runs/{id}/step',
    summary: 'Continue a run until a turn ends, then pause it',
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
    answers: { 200: 'Recorded; with "dryRun", the bodies that would be erased' },
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
    answers: { 200: 'The result for each agent' },
    run: (s, { params, query }) => verifyRun(s, params.id, query.agent),
  }),
] as const
