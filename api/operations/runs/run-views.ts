import type { z } from 'zod'
import { agentSpecOf } from '../../../domain/agent/runtime/history/spec.ts'
import type { MissingParts } from '../../../domain/agent/runtime/missing-parts.ts'
import { isOfProgram } from '../../../domain/external/hosted/state.ts'
import { isContinuable } from '../external/continue-agent.ts'
import { acceptedLosses } from '../losses/accepted-losses.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { Problem } from '../problem.ts'
import type { AgentRow, ParkedRow, RunRow } from '../read-model.ts'
import { matchOf } from '../search/search.ts'
import type { Services } from '../services.ts'
import { hasEnded } from './drive-end.ts'
import { unread } from './missing-run.ts'
import type { RunQuery } from './query-schema.ts'
import type { RequestOptions } from './request-options.ts'
import type { Run } from './schemas.ts'

// The views of runs. The tables must be caught up.

type RunsFound = Awaited<ReturnType<Services['read']['runs']>>['value']

/** Whether a caller may see texts of people, models and tools. */
const seesTexts = ({ identity }: RequestOptions): boolean =>
  identity === undefined || identity.rights.has('bodies.read')

/** A run without the texts of people, models and tools. */
const withoutTexts = ({ error, ...run }: Run): Run => ({
  ...run,
  ...{ task: null, workspace: null, summary: null, partialOutput: null, unmetGates: [], tags: [] },
  error: error && { code: error.code, message: '' },
})

const agentsWithoutTexts = (agents: readonly AgentRow[]): AgentRow[] => agents.map((one) => ({ ...one, task: null }))

/** Runs that match a query, newest first. Rejects with FORBIDDEN a search for a text that the caller may not see. */
export async function listRuns(s: Services, query: z.output<typeof RunQuery>, options: RequestOptions) {
  const texts = seesTexts(options)
  for (const filter of ['text', 'tag'] as const)
    if (!texts && query[filter] !== undefined)
      throw new Problem('FORBIDDEN', `${filter}: the right bodies.read is needed to search the texts of runs`)
  const { position, value } = await s.read.runs(omitUndefined(query))
  const sizes = await s.sizes(value.runs.map(({ runId }) => runId))
  const { limit: _, ...filters } = omitUndefined(query)
  return {
    position,
    ...(Object.keys(filters).length === 0 ? await damagedRuns(s) : { damaged: {}, damagedCount: 0 }),
    runs: value.runs.map((row) => runView(s, row, sizes)).map((run) => (texts ? run : withoutTexts(run))),
    matches: query.text === undefined ? {} : matchesOf(value, query.text),
    next: value.next,
  }
}

/** The newest match of each run of a page, by its id. */
function matchesOf({ runs, matches }: RunsFound, text: string) {
  const found = runs.map(({ runId }) => {
    const row = matches.get(runId)
    return [runId, row === undefined ? null : matchOf(row, text)] as const
  })
  return Object.fromEntries(found.flatMap(([id, match]) => (match === null ? [] : [[id, match]])))
}

const MOST_DAMAGED = 20

/** Some runs without a row in the tables, because their first event cannot be read, by their id; and how many there are. */
async function damagedRuns({ read }: Pick<Services, 'read'>) {
  const parked = await read.parked()
  const isRun = ({ stream, runId, revision }: ParkedRow) =>
    revision === 0 && RUN_KINDS.some((kind) => stream === kind + runId)
  const damaged = parked.filter(isRun)
  const some = damaged.slice(0, MOST_DAMAGED).map((one) => [one.runId, one] as const)
  return { damaged: Object.fromEntries(some), damagedCount: damaged.length }
}

const RUN_KINDS = ['agent-', 'external-']

/** A run, its tree of agents and totals. Rejects with 404, and with `RUN_PARKED` where the tables cannot read it. */
export async function runDetail(s: Services, runId: string, options: RequestOptions) {
  const texts = seesTexts(options)
  const { position, value } = await s.read.run(runId)
  if (!value) throw await unread(s, runId)
  const { tree, cancelling, asked, restoring, continuedBy } = value
  const asks = await s.read.asks({ runId })
  const parked = await s.read.parked(runId)
  const losses = await acceptedLosses(s, [runId, ...tree.map(({ agentId }) => agentId)])
  const missing = await missingPartsOf(s, value.run, cancelling)
  // A verification of the run reports unreadable events.
  const reuse = value.run.source === null ? null : await s.runtime.reused(runId).catch(() => null)
  const workersDrive = s.holder !== null && asked && !hasEnded(value.run.status)
  const row = { ...value.run, incomplete: value.run.incomplete || parked.length > 0 }
  const whole = runView(s, row, await s.sizes([runId]))
  const run = texts ? whole : withoutTexts(whole)
  return {
    ...{ position, run, tree: texts ? tree : agentsWithoutTexts(tree), asks: texts ? asks.value : [], parked },
    ...{ acceptedLosses: losses, reuse, workersDrive, restoring, continuedBy },
    continuable: isContinuable(s, { ...value.run, ...value }),
    ...{ missingTools: missing.tools, missingProviders: missing.models },
  }
}

/** The agents of a run. Rejects as {@link runDetail} does. */
export async function runTree(s: Services, runId: string, options: RequestOptions) {
  const { position, value } = await s.read.tree(runId)
  if (!value) throw await unread(s, runId)
  const { agents, recorded } = value
  return { position, runId, agents: seesTexts(options) ? agents : agentsWithoutTexts(agents), recorded }
}

function runView(s: Services, row: RunRow, sizes: ReadonlyMap<string, number>): Run {
  const driving = row.ungoverned ? s.agents?.at(row.runId) !== undefined : s.drivers.state(row.runId).driving
  // The question of another agent ends with its process; a question of keepup's own agent stays open without one.
  const isIdle = row.ungoverned || (row.waiting.length === 0 && row.turn > 0)
  const idle = isIdle && !hasEnded(row.status) && !driving
  // On servers the drivers of other processes are not known. Another program runs the agent of a reported or hosted run.
  const interrupted = isOfProgram(row.backend) ? false : idle && s.workSubscription !== null ? null : idle
  const { open } = s.losses
  const isShort = open?.streams.some(({ runId }) => runId === row.runId) === true
  const shortened = isShort || (open?.unlisted === true && !hasEnded(row.status))
  return { ...row, shortened, bytes: sizes.get(row.runId) ?? null, driving, interrupted }
}

const NO_PARTS: MissingParts = { tools: [], models: [] }

async function missingPartsOf(
  s: Services,
  { runId, status, ungoverned }: RunRow,
  cancelling: boolean,
): Promise<MissingParts> {
  // To end a run needs none of its parts.
  if (cancelling || hasEnded(status) || ungoverned) return NO_PARTS
  // A drive and a verification of the run report unreadable events.
  const found = await agentSpecOf(s, runId).catch(() => null)
  return found === null ? NO_PARTS : s.runtime.missingParts(found.spec)
}
