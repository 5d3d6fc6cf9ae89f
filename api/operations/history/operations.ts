import { z } from 'zod'
import { ArtifactList } from '../approvals/schemas.ts'
import { RecordedAtPoint } from '../external/recorded-at-schema.ts'
import { StartHeaders } from '../headers.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { operation, WithStatus } from '../operation.ts'
import { mustBeRun } from '../runs/run-of-agent.ts'
import { Difference, ForkBody, Started } from '../runs/schemas.ts'
import { AtQuery, Digits, Id, PageQuery, PointQuery } from '../schemas.ts'
import { Restored } from '../system/schemas.ts'
import * as schema from './checkpoint-schemas.ts'
import { getCheckpoint, listCheckpoints } from './checkpoints.ts'
import { compareRuns } from './compare-runs.ts'
import { CompareQuery, RunComparison } from './compare-schemas.ts'
import { compareStates } from './compare-states.ts'
import { StatesQuery } from './difference-schemas.ts'
import { forkRun } from './fork-run.ts'
import { lastMessages } from './last-messages.ts'
import { atOf, briefPointOf } from './point.ts'
import { restoreFiles } from './restore-files.ts'
import { RestoreBody } from './restore-schemas.ts'
import { stateAt } from './state-at.ts'

const params = z.object({ id: Id })

/** Points of the history of runs: their states, checkpoints and artifacts, comparisons, and forks. */
export const HISTORY_OPERATIONS = [
  operation({
    name: 'getRunState',
    http: 'GET /v1/runs/{id}/state',
    right: 'bodies.read',
    summary: 'The state at a step, turn or event, folded from the log; nothing is performed',
    input: { params, query: AtQuery },
    output: z.union([schema.AgentAtPoint, RecordedAtPoint]),
    answers: { 200: 'The state; of a run of another agent: its record' },
    revision: ({ revision }) => revision,
    mcp: { names: { id: 'runId', agent: 'agentId' }, short: lastMessages },
    run: (s, { params, query }) => stateAt(s, params.id, query),
  }),
  operation({
    name: 'getAgentBrief',
    http: 'GET /v1/agents/{id}/brief',
    right: 'bodies.read',
    summary: 'The state at a step, turn or event without the messages, at a cost that does not grow with the history',
    input: { params, query: PointQuery },
    output: schema.AgentBriefAtPoint,
    answers: { 200: 'The state' },
    revision: ({ revision }) => revision,
    run: async (s, { params, query }) => briefPointOf(await s.runtime.brief(params.id, atOf(query))),
  }),
  operation({
    name: 'listCheckpoints',
    http: 'GET /v1/agents/{id}/checkpoints',
    right: 'runs.read',
    summary: "An agent's checkpoints, in order of their steps",
    input: { params, query: schema.CheckpointsQuery },
    output: schema.CheckpointList,
    answers: { 200: 'A page of checkpoints' },
    awaitsTables: true,
    run: (s, { params, query }) => listCheckpoints(s, params.id, query),
  }),
  operation({
    name: 'getCheckpoint',
    http: 'GET /v1/agents/{id}/checkpoints/{step}',
    right: 'bodies.read',
    summary: 'A whole checkpoint',
    input: { params: z.object({ id: Id, step: Digits.pipe(z.int().positive()) }) },
    output: schema.CheckpointDetail,
    answers: { 200: 'The checkpoint' },
    awaitsTables: true,
    run: (s, { params: { id, step } }) => getCheckpoint(s, id, step),
  }),
  operation({
    name: 'listArtifacts',
    http: 'GET /v1/artifacts',
    right: 'bodies.read',
    summary: 'Artifacts, in the order in which they were registered',
    input: { query: PageQuery.extend({ run: Id.optional() }) },
    output: ArtifactList,
    answers: { 200: 'A page of artifacts' },
    awaitsTables: true,
    run: async (s, { query: { run, limit, after } }) => {
      if (run !== undefined) await mustBeRun(s, run)
      const { position, value } = await s.read.artifacts(omitUndefined({ limit, after, runId: run }))
      return { position, ...value }
    },
  }),
  operation({
    name: 'compareRunStates',
    http: 'GET /v1/runs/{id}/diff',
    right: 'bodies.read',
    summary: 'What differs between two steps, of one run or of two',
    input: { params, query: StatesQuery },
    output: Difference,
    answers: { 200: 'The difference' },
    run: (s, { params, query }) => compareStates(s, params.id, query),
  }),
  operation({
    name: 'compareRuns',
    http: 'GET /v1/runs/{id}/compare',
    right: 'bodies.read',
    summary: 'Two runs beside each other: the first difference in what was asked, answered or decided, and all others',
    input: { params, query: CompareQuery },
    output: RunComparison,
    answers: { 200: 'The comparison' },
    run: (s, { params, query }) => compareRuns(s, params.id, query),
  }),
  operation({
    name: 'forkRun',
    http: 'POST /v1/runs/{id}/fork',
    right: 'runs.start',
    summary: 'A new run whose history up to a point is that of this one',
    input: { params, headers: StartHeaders, body: ForkBody },
    output: Started,
    answers: { 201: 'Forked', 200: 'Forked before, by the same key' },
    revision: ({ revision }) => revision,
    location: ({ runId }) => `/v1/runs/${runId}`,
    run: async (s, { params: { id }, body }, { options }) => {
      const { by, drive, agent = id, step, turn, event, ...what } = body
      const forked = await forkRun(s, agent, { at: atOf({ step, turn, event }), ...what }, { by, drive, options })
      return new WithStatus(forked.created ? 201 : 200, forked)
    },
  }),
  operation({
    name: 'restoreFiles',
    http: 'POST /v1/runs/{id}/restore',
    right: 'runs.steer',
    summary: 'Put the files of a step, or of a kept tree, back; what they replace is kept',
    input: { params, body: RestoreBody },
    output: Restored,
    answers: { 200: 'Restored' },
    run: async (s, { params: { id }, body: { step = 0, tree, ...asked } }, { options }) => {
      const to = tree === undefined ? { step } : { tree }
      const done = await restoreFiles(s, id, { ...asked, to }, options)
      return { runId: id, dryRun: asked.dryRun, ...done }
    },
  }),
] as const
