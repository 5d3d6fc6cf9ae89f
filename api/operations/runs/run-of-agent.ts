import { agentSpecOf } from '../../../domain/agent/runtime/history/spec.ts'
import { shortened } from '../../../domain/log/errors.ts'
import { externalStream } from '../../../domain/log/ids.ts'
import { runOf } from '../../../domain/log/owner.ts'
import { streamOfAgent } from '../../../domain/tree/runtime/stream-of-agent.ts'
import { type AgentSpec, writingTools } from '../../../domain/tree/spec.ts'
import { lossText } from '../losses/loss.ts'
import { notFound, Problem } from '../problem.ts'
import type { Services } from '../services.ts'
import type { StartedRun } from './schemas.ts'

type Log = Pick<Services, 'log'> & Partial<Pick<Services, 'losses'>>

/**
 * The run of an agent, keepup's own or an external one. Rejects with 404 if the log does not contain the agent, with
 * `LOG_SHORTENED` if the log may have lost it.
 */
export async function runOfAgent({ log, losses }: Log, agentId: string): Promise<string> {
  const stream = await streamOfAgent(log, agentId)
  if (stream !== null)
    for await (const [first] of log.read(stream, { limit: 1, bodies: false })) return runOf(first!.header)
  if (losses?.open) throw shortened(lossText(losses.open))
  throw notFound('agent', agentId)
}

/** Whether the agent is an external one, to whose actions keepup's policy does not apply. */
export const isUngoverned = async ({ log }: Pick<Log, 'log'>, agentId: string): Promise<boolean> =>
  (await streamOfAgent(log, agentId)) === externalStream(agentId)

/**
 * Rejects with `RUN_UNGOVERNED` for an external agent. `what`: the operation, which only keepup's own agents support.
 */
export async function mustGovern(s: Pick<Log, 'log'>, agentId: string, what: string): Promise<void> {
  if (await isUngoverned(s, agentId)) throw ungoverned(agentId, what)
}

/** The refusal of the operation `what` for an external agent's run. */
export const ungoverned = (agentId: string, what: string): Problem =>
  new Problem(
    'RUN_UNGOVERNED',
    `${agentId} is a run of another agent, which keepup records and does not govern: ${what} is not possible; ` +
      'its events, its cost, verify and cancel are',
  )

/** Rejects with 404 if the log does not contain the run. The id of an agent below the root is not a run. */
export async function mustBeRun(s: Log, runId: string): Promise<void> {
  const of = await runOfAgent(s, runId).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'NOT_FOUND') return null
    throw error
  })
  if (of !== runId) throw notFound('run', runId)
}

/**
 * A run's folder, and warnings for a person at its start. A null folder: none, or the start of the run is unreadable.
 */
export async function beginningOf(
  s: Pick<Services, 'log' | 'blobs' | 'files'>,
  runId: string,
): Promise<Pick<StartedRun, 'workspace' | 'warnings'>> {
  const spec = (await agentSpecOf(s, runId).catch(() => null))?.spec
  if (spec === undefined) return { workspace: null, warnings: [] }
  return {
    workspace: spec.workspace?.path ?? null,
    warnings: [...unmeetableGates(spec), ...(await writesThatFail(s, spec))],
  }
}

/** Nobody should approve a write, only to see it fail. */
async function writesThatFail({ files }: Pick<Services, 'files'>, spec: AgentSpec): Promise<string[]> {
  const tools = writingTools(spec)
  if (spec.workspace === null || tools.length === 0) return []
  const { path } = spec.workspace
  const code = await files.unwritable(path)
  if (code === null) return []
  const fails = `${tools.join(', ')} will fail`
  return [
    `the workspace ${path} cannot be written (${code}), so ${fails}; give this user the right to write there, or start the run in another folder (--workspace, workspace)`,
  ]
}

const unmeetableGates = ({ role, testCommand }: AgentSpec): string[] =>
  testCommand === null && role?.qualityGates.some(({ check }) => check === 'tests_pass')
    ? [
        `the gate tests_pass of the role ${role.name} cannot hold, because there is no test command; name one (--test-command, testCommand), or give package.json a test script before the start`,
      ]
    : []
