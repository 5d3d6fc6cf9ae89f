import type { z } from 'zod'
import { UserCommand } from '../../domain/agent/decide/commands.ts'
import type { Comparison } from '../../domain/agent/rules/compare-histories.ts'
import { compareRuns } from '../../domain/agent/runtime/history/compare.ts'
import type { PermittedCall } from '../../domain/agent/runtime/history/permitted-calls.ts'
import type { RebuiltRequest } from '../../domain/agent/runtime/history/rebuild-request.ts'
import type { RecordedDecision } from '../../domain/agent/runtime/history/routing-decisions.ts'
import type { ReusedRecord } from '../../domain/agent/runtime/types.ts'
import { issuesOf, issuesText } from '../../domain/log/issues.ts'
import type { AgentRunHandle, AgentRunRequest, ExternalRuns } from '../../domain/ports/external.ts'
import type { ContextStore } from '../../domain/store/runtime/store.ts'
import type { At } from '../../domain/stream/point.ts'
import { Callback } from '../../domain/stream/runtime/callback.ts'
import { approvalDetail, doubtQuestion } from '../operations/approvals/question.ts'
import type { ApprovalDetail, DoubtDetail } from '../operations/approvals/schemas.ts'
import { type DocumentsApi, documentsOf } from '../operations/document/library.ts'
import type { EventView } from '../operations/events/schemas.ts'
import { agentsOf } from '../operations/external/agents.ts'
import { capabilitiesOf } from '../operations/external/list-agents.ts'
import type { Checkpoint } from '../operations/history/checkpoint.ts'
import { forkRun } from '../operations/history/fork-run.ts'
import { type KeptMemories, memoriesOf } from '../operations/memory/library.ts'
import { messageBusOf, type RuntimeMessageBus } from '../operations/messages/library.ts'
import type { KnownModels } from '../operations/models/known-models.ts'
import { told } from '../operations/notices.ts'
import { type Numbers as NumbersFound, NumbersQuery } from '../operations/numbers/schemas.ts'
import { given } from '../operations/omit-undefined.ts'
import { planView } from '../operations/plan/plan-view.ts'
import type { PlanView } from '../operations/plan/schemas.ts'
import { checkRuns } from '../operations/policy/check-policy.ts'
import { CheckPolicy, type PolicyChecked } from '../operations/policy/schemas.ts'
import { Problem } from '../operations/problem.ts'
import type { ApprovalRow, RunRow } from '../operations/read-model.ts'
import type { Ended } from '../operations/runs/drive-end.ts'
import { record } from '../operations/runs/record-command.ts'
import type { RequestOptions } from '../operations/runs/request-options.ts'
import { actorOf } from '../operations/runs/request-options.ts'
import type { StartedRun } from '../operations/runs/schemas.ts'
import { ForkBody, type RunTree, type VerifiedRun } from '../operations/runs/schemas.ts'
import { startRun } from '../operations/runs/start-run.ts'
import { OWN_AGENT, StartRun } from '../operations/runs/start-schemas.ts'
import { verifyRun } from '../operations/runs/verify-run.ts'
import { By } from '../operations/schemas.ts'
import type { Services } from '../operations/services.ts'
import { askSql } from '../operations/sql/ask.ts'
import { type SqlAnswer, SqlQuestion } from '../operations/sql/schemas.ts'
import { contextStoresOf, type KeptContextStores } from '../operations/store/library.ts'
import type { Config } from '../process/config/config.ts'
import { work } from '../process/drives/work.ts'
import { type AgentState, agentStateOf } from './agent-state.ts'
import { followRun } from './follow-run.ts'
import { type ApprovalsWanted, approvalsOf, type RunsWanted, runsOf } from './lists.ts'
import { runOwnAgent } from './own-agent.ts'
import type { Saying } from './sender.ts'
import { externalRunsOf } from './spawning.ts'
import { requestOf, type StartOptions } from './start-options.ts'

export type ApprovalQuestion = z.infer<typeof ApprovalDetail>
export type DoubtQuestion = z.infer<typeof DoubtDetail>

/**
 * The request for a fork: the body of `POST /v1/runs/{id}/fork`. `at`: the fork point in the source; null: its head.
 */
export interface ForkRequest extends Omit<z.input<typeof ForkBody>, 'step' | 'turn' | 'event'> {
  readonly at?: At
  /** A repeated request with the same key returns the existing fork, also after a restart. */
  readonly key?: string
}

/** A data folder, opened by {@link openKeepUp}. Methods reject with errors that have a stable `code`. */
export interface KeepUp extends AsyncDisposable {
  /**
   * Records a new run. {@link drive} performs it. With `drive: true`, a worker or a later `serve` in the same folder
   * performs it.
   */
  start(options: StartOptions): Promise<StartedRun>
  /**
   * Performs a run until it ends or waits for a person. `onText` receives the model's text as it arrives. An error
   * thrown by `onText` does not stop the drive; the call rejects with it at the end.
   */
  drive(runId: string, options?: { readonly onText?: (text: string) => void }): Promise<Ended>
  /**
   * Iterates over the run's events from the first one (or after a cursor), then over new ones. Ends with the last event
   * of a finished run, when the signal aborts, or on {@link close}. Waits while the run waits for a person.
   */
  follow(runId: string, options?: { readonly after?: string; readonly signal?: AbortSignal }): AsyncIterable<EventView>
  /**
   * On servers: drives runs started with `drive`, together with other processes, until the signal aborts. `onNote`
   * receives warnings.
   */
  work(options: { readonly signal: AbortSignal; readonly onNote?: (text: string) => void }): Promise<void>
  /** Records a person's command: input, an approval, a pause, a cancel … Drives nothing. */
  say(agentId: string, command: z.input<typeof UserCommand>, saying?: Saying): Promise<{ readonly revision: number }>
  /** A run in the tables, caught up to the log. Null: it does not exist. */
  run(runId: string): Promise<RunRow | null>
  /** The agents of a run with status, waits and costs. Null: the run does not exist. */
  tree(runId: string): Promise<RunTree | null>
  /** Runs that match all filters, newest first, read page by page on demand. */
  runs(wanted?: RunsWanted): AsyncIterable<RunRow>
  /** Approvals in the order of their requests. Without a state: the pending ones. */
  approvals(wanted?: ApprovalsWanted): AsyncIterable<ApprovalRow>
  /**
   * An approval with its preview. `decide_approval` and `resolve_doubt` of {@link say} need the `questionHash` of the
   * question that the person has seen. If the question has changed since, the answer is refused with
   * `QUESTION_CHANGED`. Rejects with NOT_FOUND.
   */
  approval(toolCallId: string): Promise<ApprovalQuestion>
  /** A call with an unknown outcome, with its `questionHash`. Rejects with NOT_FOUND. */
  doubt(toolCallId: string): Promise<DoubtQuestion>
  /** A checkpoint of an agent by its step, counted from 1. Null: none. */
  checkpoint(agentId: string, step: number): Promise<Checkpoint | null>
  /**
   * An agent's state at a point of its history (default: its head), folded from the log without performing anything.
   */
  agent(agentId: string, at?: At): Promise<AgentState>
  /** The model requests of a turn, rebuilt from the log: one entry per attempt. */
  requests(agentId: string, turn: number): Promise<readonly RebuiltRequest[]>
  /** The models with prices, capabilities, their health in this process, and the current choice. */
  models(): KnownModels
  /** Why a turn used its model: the router's decisions, one before each model call (seed 000, 5.7). */
  routing(agentId: string, turn: number): Promise<readonly RecordedDecision[]>
  /** The calls of a turn that the policy refuses and a person's permission allowed. */
  permitted(agentId: string, turn: number): Promise<readonly PermittedCall[]>
  /** Verifies the chain, the bodies and the digests of every agent of a run, or of one. */
  verify(runId: string, only?: { readonly agent?: string }): Promise<VerifiedRun>
  /**
   * How far a fork with `reuse` has followed its source's record, and where it deviated. Null: the fork reuses nothing.
   */
  reused(runId: string): Promise<ReusedRecord | null>
  /** Compares two runs, aligned by cause: the first difference in requests, answers and decisions. */
  compare(runId: string, other: string): Promise<Comparison>
  /** Creates a run with the history of this one up to a point. `drive`: see {@link start}. */
  fork(runId: string, options?: ForkRequest): Promise<StartedRun>
  /**
   * Runs any agent (seed 002). `kind`: `claude_code`, `codex`, `gemini`, `opencode`, one from the settings or of this
   * program. keepup's policy does not apply to such an agent, so every view marks its run as ungoverned, and closing
   * cancels it. `keepup` is keepup's own agent; its handle is for a run as {@link start} creates it.
   */
  runAgent(kind: string, request: AgentRunRequest, by?: string): Promise<AgentRunHandle>
  /** The capabilities of a kind of agent, sorted. Throws `UnknownBackend`. */
  agentCapabilities(kind: string): readonly string[]
  /**
   * Which recorded calls of runs a different policy or role would have refused or asked about. Performs nothing.
   * Missing members of the policy have their defaults.
   */
  checkPolicy(asked: z.input<typeof CheckPolicy>): Promise<PolicyChecked>
  /** Runs of external agents as {@link runAgent} creates them, for a provider of spawn-and-wait (seed 004). */
  readonly externalRuns: ExternalRuns
  /**
   * The store of context variables with this name (seed 004). The log stores its content, with secrets redacted. Names:
   * small letters, digits, "-" and "_".
   */
  contextStore(name: string, by?: string): ContextStore
  /** All context stores: list, erase and verify. */
  readonly contextStores: KeptContextStores
  /** The facts that agents have saved with `remember`. */
  readonly memories: KeptMemories
  /** The messages between the agents of a run and people. */
  readonly messages: RuntimeMessageBus
  /** The tasks of an agent (absent: the root agent), and every version of the run's plans. Rejects with RUN_UNKNOWN. */
  plan(runId: string, agentId?: string): Promise<PlanView>
  /** Documents that people and agents edit together. */
  readonly documents: DocumentsApi
  /** Figures about tool and model calls (failures, durations), routing, recoveries and budgets. */
  numbers(which?: z.input<typeof NumbersQuery>): Promise<NumbersFound>
  /** Runs one read-only SELECT over the tables and the log. At most `limit` rows (1000) within `timeoutMs` (10 s). */
  sql(text: string, bounds?: Omit<z.input<typeof SqlQuestion>, 'sql'>): Promise<SqlAnswer>
  /** All other services: the queries, the log. */
  readonly services: Services
  /**
   * Lets current work finish for at most `KEEPUP_DRAIN_MS`, then releases the folder. Another process can continue the
   * work.
   */
  close(): Promise<void>
}

const keyed = (key: string | undefined): RequestOptions => (key === undefined ? {} : { key })

/** Reports all faults of a value in one sentence, without the values, which may be secrets. */
function parsed<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const { success, data, error } = schema.safeParse(value)
  if (success) return data
  const issues = issuesOf(error)
  throw new Problem('INVALID_REQUEST', issuesText(issues), issues)
}

/** The library's interface over built services. `by`: the default person of commands. `close`: ends the services. */
export function keepUpOf(
  services: Services,
  { by, leaseMs }: Pick<Config, 'by' | 'leaseMs'>,
  close: () => Promise<void>,
): KeepUp {
  const ending = new AbortController()
  const asker = (said: string | undefined) => parsed(By, said ?? by ?? 'anonymous')
  const end = () => {
    ending.abort(new Error('keepup was closed'))
    return close()
  }
  return {
    services,
    async checkPolicy(asked) {
      await services.read.caughtUp()
      return checkRuns(services, parsed(CheckPolicy, asked))
    },
    async numbers(which = {}) {
      const { since, run } = parsed(NumbersQuery, which)
      await services.read.caughtUp()
      const { position, value } = await services.read.numbers(given({ since, runId: run }))
      return { position, ...value }
    },
    async sql(text, bounds = {}) {
      const asked = parsed(SqlQuestion, { ...bounds, sql: text })
      await services.read.caughtUp()
      return askSql(services, asked)
    },
    memories: memoriesOf(services, parsed, asker),
    contextStores: contextStoresOf(services, parsed, asker),
    messages: messageBusOf(services, { asker, parsed, ending: ending.signal }),
    plan: (runId, agentId) => planView(services, runId, agentId),
    documents: documentsOf(services, { asker, parsed, ending: ending.signal }),
    async start(options) {
      const asked = parsed(StartRun, requestOf(options))
      return startRun(services, { ...asked, by: asker(asked.by) }, keyed(options.key), false)
    },
    async drive(runId, { onText } = {}) {
      const over = new AbortController()
      const news = onText && services.live.listen(runId, over.signal)
      const words = new Callback(onText ?? (() => undefined))
      const told = (async () => {
        for await (const item of news ?? []) if (item.kind === 'text') words.call(item.text)
      })()
      services.drivers.start(runId)
      await services.drivers.ended(runId)
      over.abort()
      await told
      words.settle()
      return services.drivers.state(runId).end ?? { end: 'interrupted' }
    },
    async work({ signal, onNote = () => {} }) {
      if (services.workSubscription === null)
        throw new Problem('NOT_ON_SERVERS', 'workers share a log on servers; use drive')
      const over = AbortSignal.any([signal, ending.signal])
      const onFault = (error: unknown, where: string) => onNote(`${where}: ${told(error)}`)
      await work({ services, leaseMs, onFault, onNote }, over)
    },
    follow: (runId, { after, signal } = {}) =>
      followRun(services, runId, after, signal ? AbortSignal.any([signal, ending.signal]) : ending.signal),
    async runAgent(kind, request, said) {
      const who = asker(said)
      if (kind === OWN_AGENT) return runOwnAgent(services, request, who)
      return agentsOf(services).run(kind, request, { by: actorOf('user', who) })
    },
    agentCapabilities: (kind) => capabilitiesOf(services, kind),
    get externalRuns() {
      return externalRunsOf(services, () => actorOf('user', asker(undefined)))
    },
    contextStore: (name, said) => services.contexts.open(name, actorOf('user', asker(said))),
    async say(agentId, command, { by: said, key } = {}) {
      const checked = parsed(UserCommand, command)
      const kind = ['decide_approval', 'resolve_doubt', 'revoke_permission', 'standing_approval'].includes(checked.kind)
        ? 'approver'
        : 'user'
      const actor = { kind, id: asker(said), claimed: true } as const
      return record(services, { agentId, command: checked, actor, options: keyed(key), drive: 'wake' })
    },
    async run(runId) {
      await services.read.caughtUp()
      return (await services.read.run(runId)).value?.run ?? null
    },
    async tree(runId) {
      await services.read.caughtUp()
      const { position, value } = await services.read.tree(runId)
      return value && { position, runId, ...value }
    },
    runs: (wanted = {}) => runsOf(services, wanted, parsed),
    approvals: (wanted = {}) => approvalsOf(services, wanted),
    async approval(toolCallId) {
      await services.read.caughtUp()
      return approvalDetail(services, toolCallId)
    },
    async doubt(toolCallId) {
      await services.read.caughtUp()
      return doubtQuestion(services, toolCallId)
    },
    async checkpoint(agentId, step) {
      await services.read.caughtUp()
      // The source has this type; only the JSON form in between does not.
      return (await services.read.checkpoint(agentId, step)).value as Checkpoint | null
    },
    agent: async (agentId, at = null) => agentStateOf(await services.runtime.at(agentId, at)),
    requests: (agentId, turn) => services.runtime.requests(agentId, turn),
    models: () => services.models(),
    routing: (agentId, turn) => services.runtime.routing(agentId, turn),
    permitted: (agentId, turn) => services.runtime.permitted(agentId, turn),
    verify: (runId, { agent } = {}) => verifyRun(services, runId, agent),
    reused: (runId) => services.runtime.reused(runId),
    compare: (runId, other) => compareRuns(services, runId, other),
    async fork(runId, { key, at = null, agent, ...options } = {}) {
      const { drive: _, by, ...asked } = parsed(ForkBody, { ...options, drive: false })
      const who = { by: asker(by), drive: options.drive ?? false, here: false, options: keyed(key) }
      return forkRun(services, agent ?? runId, { ...asked, at }, who)
    },
    close: end,
    [Symbol.asyncDispose]: end,
  }
}
