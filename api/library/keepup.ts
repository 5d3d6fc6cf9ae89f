import type { z } from 'zod'
import type { Right } from '../../domain/access/rights.ts'
import { UserCommand } from '../../domain/agent/decide/commands.ts'
import type { Comparison } from '../../domain/agent/rules/compare-histories.ts'
import { compareRunHistories } from '../../domain/agent/runtime/history/compare.ts'
import type { RebuiltRequest } from '../../domain/agent/runtime/history/rebuild-request.ts'
import type { ReusedRecord } from '../../domain/agent/runtime/types.ts'
import type { HostedRun } from '../../domain/external/runtime/hosted-run.ts'
import type { VerifiedPack } from '../../domain/log/proof/pack-verifier.ts'
import type { AgentRunHandle, AgentRunRequest, ExternalRuns } from '../../domain/ports/external.ts'
import type { ContextStore } from '../../domain/store/runtime/store.ts'
import type { At } from '../../domain/stream/point.ts'
import { Callback } from '../../domain/stream/runtime/callback.ts'
import type { Threads } from '../../domain/thread/runtime/threads.ts'
import { runOfRequest } from '../operations/access/run-of-request.ts'
import { type DocumentsApi, documentsOf } from '../operations/document/library.ts'
import type { EventView } from '../operations/events/schemas.ts'
import type { ExportedEvents } from '../operations/export/write-events.ts'
import type { ExportedTables } from '../operations/export/write-tables.ts'
import { externalAgents } from '../operations/external/agents.ts'
import { capabilitiesOf } from '../operations/external/list-agents.ts'
import type { Checkpoint } from '../operations/history/checkpoint.ts'
import { forkRun } from '../operations/history/fork-run.ts'
import { messageBusOf, type RuntimeMessageBus } from '../operations/messages/library.ts'
import { operatorText } from '../operations/notices.ts'
import { checkPack } from '../operations/pack/check-pack.ts'
import { PackChoice, writePack } from '../operations/pack/write-pack.ts'
import { Problem } from '../operations/problem.ts'
import type { RunRow } from '../operations/read-model.ts'
import type { Ended } from '../operations/runs/drive-end.ts'
import { OWN_AGENT } from '../operations/runs/own-agent.ts'
import { recordCommand } from '../operations/runs/record-command.ts'
import type { RequestOptions } from '../operations/runs/request-options.ts'
import { actorOf } from '../operations/runs/request-options.ts'
import type { StartedRun } from '../operations/runs/schemas.ts'
import { ForkBody } from '../operations/runs/schemas.ts'
import { startRun } from '../operations/runs/start-run.ts'
import { StartRun } from '../operations/runs/start-schemas.ts'
import type { Services } from '../operations/services.ts'
import { askSql } from '../operations/sql/ask.ts'
import { type SqlAnswer, SqlQuestion } from '../operations/sql/schemas.ts'
import type { Config } from '../process/config/settings.ts'
import { work } from '../process/drives/work.ts'
import { type AgentState, agentStateOf } from './agent-state.ts'
import { type Calls, callsOver, type ListName, type RowOf, type RowsAsked, rowsOf } from './calls.ts'
import { type Consume, consumeOf } from './consumers/consume.ts'
import { type ExportEvents, type ExportTables, exportsOf } from './exports.ts'
import { followRun } from './follow-run.ts'
import { type HostRun, hostRun } from './host-run.ts'
import { runOwnAgent } from './own-agent.ts'
import { parsed } from './parsed.ts'
import type { Needed, Saying } from './sender.ts'
import { Callers } from './sender.ts'
import { externalRunsOf } from './spawning.ts'
import { requestFromOptions, type StartOptions } from './start-options.ts'
import { threadsOf } from './threads.ts'

/**
 * The request for a fork: the body of `POST /v1/runs/{id}/fork`. `at`: the fork point in the source; null: its head.
 */
export interface ForkRequest extends Omit<z.input<typeof ForkBody>, 'step' | 'turn' | 'event'> {
  readonly at?: At
  /** A repeated request with the same key returns the existing fork, also after a restart. */
  readonly key?: string
}

/**
 * A data folder, opened by {@link openKeepUp}. Each operation of the HTTP API is a method with the operation's name; it takes
 * the members of path, query and body in one object. Methods reject with errors that have a stable `code`.
 */
export interface KeepUp extends AsyncDisposable, Calls {
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
  /** The rows of any list, read page by page on demand: `rows('listMemories', { q: 'port' })`. */
  rows<N extends ListName>(list: N, asked?: RowsAsked<N>): AsyncIterable<RowOf<N>>
  /** Runs that match all filters, newest first. Filters have the names of `GET /v1/runs`; `over`: dollars. */
  runs(wanted?: RowsAsked<'listRuns'>): AsyncIterable<RowOf<'listRuns'>>
  /** Approvals in the order of their requests. Without a state: the pending ones. */
  approvals(wanted?: RowsAsked<'listApprovals'>): AsyncIterable<RowOf<'listApprovals'>>
  /** A checkpoint of an agent by its step, counted from 1. Null: none. */
  checkpoint(agentId: string, step: number): Promise<Checkpoint | null>
  /**
   * An agent's state at a point of its history (default: its head), folded from the log without performing anything.
   */
  agent(agentId: string, at?: At): Promise<AgentState>
  /** The model requests of a turn, rebuilt from the log: one entry per attempt. */
  requests(agentId: string, turn: number): Promise<readonly RebuiltRequest[]>
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
  /**
   * Starts or continues a run whose agent this program runs itself, for adapters to other SDKs (api/docs/agent-sdks.md).
   * The program records each call through the run, and keepup's policy decides about its tool calls.
   */
  host(run: HostRun, by?: string): Promise<HostedRun>
  /** The capabilities of a kind of agent, sorted. Throws `UnknownBackend`. */
  agentCapabilities(kind: string): readonly string[]
  /** Runs of external agents as {@link runAgent} creates them, for a provider of spawn-and-wait (seed 004). */
  readonly externalRuns: ExternalRuns
  /**
   * The store of context variables with this name (seed 004). The log stores its content, with secrets redacted. Names:
   * small letters, digits, "-" and "_".
   */
  contextStore(name: string, by?: string): ContextStore
  /** Threads of checkpoints of another program, such as a LangGraph app (`@keepup/runtime/langgraph`). */
  threads(by?: string): Threads
  /** The messages between the agents of a run and people. */
  readonly messages: RuntimeMessageBus
  /**
   * Reads the events of a named consumer in order, at least once, and creates the consumer if it is missing. The position
   * moves on after `handler`. Ends when the signal aborts, on {@link close}, and with `once` at the present head of the
   * log. Rejects with the error of `handler`, and with `CONSUMER_TAKEN` when another reader opens the consumer.
   *
   * With `positionIn`, a Kysely of your own database, `handler` runs in a transaction that also stores the position, in
   * the table `keepup_positions`: its rows are written exactly once.
   */
  readonly consume: Consume
  /** Documents that people and agents edit together. */
  readonly documents: DocumentsApi
  /**
   * Runs one read-only SELECT over the tables and the log. At most `limit` rows (1000) within `timeoutMs` (10 s). `at`: a
   * cursor; the tables are as they were after its event. `to`: a second cursor; the answer has only the rows that differ there.
   * Rejects with `SQL_REFUSED`, `SQL_FAILED`, `SQL_LIMIT`, `SQL_BUSY`, `SQL_UNAVAILABLE`, `CURSOR_INVALID`, `CURSOR_MISMATCH`, and with
   * `BODY_ERASED` if texts were erased after `at`, unless `erased`.
   */
  sql(text: string, bounds?: Omit<z.input<typeof SqlQuestion>, 'sql'>): Promise<SqlAnswer>
  /**
   * The bytes of a tar file with runs (default: everything that the log holds) and their proofs, which anybody can verify
   * without keepup. The iteration rejects with `NOT_SIGNED` or `NOT_FOUND` before the first piece.
   */
  pack(choice?: z.input<typeof PackChoice>): AsyncIterable<Uint8Array>
  /**
   * Verifies a pack while it is read. `policy`: trusted keys (c2sp.org/tlog-policy) in place of those in the pack.
   * Rejects with `NotATar` if the bytes are no pack.
   */
  checkPack(pack: AsyncIterable<Uint8Array>, options?: { readonly policy?: string }): Promise<VerifiedPack>
  /**
   * Writes all events into files of a folder, for analysts. In a folder of an earlier export the call adds the later
   * events, and removes erased texts from the files of events. `outdated` names files of tables that may still show it.
   * Rejects with an `ExportError` if the folder cannot be continued.
   */
  exportEvents(asked: ExportEvents): Promise<ExportedEvents>
  /** Writes the rows of all tables at one position of the log into a folder, a file per table. */
  exportTables(asked: ExportTables): Promise<ExportedTables>
  /** All other services: the queries, the log. */
  readonly services: Services
  /**
   * Lets current work finish for at most `KEEPUP_DRAIN_MS`, then releases the folder. Another process can continue the
   * work.
   */
  close(): Promise<void>
}

/** The rights of commands that need another one than `runs.steer`. */
const RIGHT_OF: { readonly [K in UserCommand['kind']]?: Right } = {
  decide_approval: 'runs.decide',
  resolve_doubt: 'runs.decide',
  revoke_permission: 'runs.decide',
  standing_approval: 'runs.decide',
  erase: 'runs.erase',
  release_loss: 'log.repair',
}

const keyed = (key: string | undefined): RequestOptions => (key === undefined ? {} : { key })

/** The library's interface over built services. `by`: the default person of commands. `close`: ends the services. */
export function keepUpOf(
  services: Services,
  { by, key, leaseMs }: Pick<Config, 'by' | 'key' | 'leaseMs'>,
  close: () => Promise<void>,
): KeepUp {
  const ending = new AbortController()
  const callers = new Callers(services, { name: by ?? 'anonymous', key: key ?? undefined })
  /** Rejects if the program's principal does not have the rights. */
  const runOf = (agentId: string) => runOfRequest(services, `/v1/agents/${agentId}`)
  const mustMay = async (right: Needed['right'], operation: string, run: string | null = null): Promise<void> => {
    await callers.caller(undefined, { right, operation, run })
  }
  const calls = callsOver(services, callers)
  const end = () => {
    ending.abort(new Error('keepup was closed'))
    return close()
  }
  return {
    ...calls,
    services,
    async sql(text, bounds = {}) {
      await mustMay('tables.ask', 'askSql')
      const asked = parsed(SqlQuestion, { ...bounds, sql: text })
      await services.read.caughtUp()
      return askSql(services, asked)
    },
    pack(choice = {}) {
      const chosen = parsed(PackChoice, choice)
      const pieces = async function* () {
        await mustMay('log.verify', 'writePack')
        yield* writePack(services, chosen)
      }
      return pieces()
    },
    ...exportsOf(services, mustMay),
    checkPack: (pack, { policy } = {}) => checkPack(pack, policy),
    consume: consumeOf(services, { mustMay: () => mustMay('log.read', 'consume'), ending: ending.signal }),
    messages: messageBusOf(services, { callers, parsed, ending: ending.signal }),
    documents: documentsOf(services, { callers, ending: ending.signal }),
    async start(options) {
      const asked = parsed(StartRun, requestFromOptions(options))
      const caller = await callers.caller(asked.by, { right: 'runs.start', operation: 'start', run: null })
      return startRun(services, { ...asked, by: caller.by }, { ...keyed(options.key), ...caller.options }, false)
    },
    async drive(runId, { onText } = {}) {
      await mustMay('runs.steer', 'drive', runId)
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
      await mustMay('runs.steer', 'work')
      if (services.workSubscription === null)
        throw new Problem('NOT_ON_SERVERS', 'workers share a log on servers; use drive')
      const over = AbortSignal.any([signal, ending.signal])
      const onFault = (error: unknown, where: string) => onNote(`${where}: ${operatorText(error)}`)
      await work({ services, leaseMs, onFault, onNote }, over)
    },
    async *follow(runId, { after, signal } = {}) {
      await mustMay('bodies.read', 'follow', runId)
      yield* followRun(services, runId, after, signal ? AbortSignal.any([signal, ending.signal]) : ending.signal)
    },
    async runAgent(kind, request, said) {
      const { by, options } = await callers.caller(said, { right: 'runs.start', operation: 'runAgent', run: null })
      if (kind === OWN_AGENT) return runOwnAgent(services, request, { by, options })
      return externalAgents(services).run(kind, request, { by: actorOf('user', by, options) })
    },
    async host(run, said) {
      const caller = await callers.caller(said, { right: 'runs.start', operation: 'host', run: null })
      return hostRun(services, run, caller)
    },
    agentCapabilities: (kind) => capabilitiesOf(services, kind),
    get externalRuns() {
      return externalRunsOf(services, callers)
    },
    contextStore: (name, said) =>
      services.contexts.open(name, async (change) => {
        const right = change ? 'stores.write' : 'stores.read'
        const { by, options } = await callers.caller(said, { right, operation: 'contextStore', run: null })
        return actorOf('user', by, options)
      }),
    threads: (said) =>
      threadsOf(services, async (need) => {
        const { by, options } = await callers.caller(said, {
          right: `streams.${need}`,
          operation: 'threads',
          run: null,
        })
        return actorOf('user', by, options)
      }),
    async say(agentId, command, { by: said, key } = {}) {
      const checked = parsed(UserCommand, command)
      const right = RIGHT_OF[checked.kind] ?? 'runs.steer'
      const { by, options: who } = await callers.caller(said, { right, operation: checked.kind, run: agentId })
      const options = { ...keyed(key), ...who }
      const actor = actorOf(right === 'runs.decide' ? 'approver' : 'user', by, options)
      return recordCommand(services, { agentId, command: checked, actor, options, drive: 'wake' })
    },
    async run(runId) {
      await mustMay('runs.read', 'getRun', runId)
      await services.read.caughtUp()
      return (await services.read.run(runId)).value?.run ?? null
    },
    rows: (list, asked = {} as RowsAsked<typeof list>) => rowsOf(calls, list, asked),
    runs: (wanted = {}) => rowsOf(calls, 'listRuns', wanted),
    approvals: (wanted = {}) => rowsOf(calls, 'listApprovals', wanted),
    async checkpoint(agentId, step) {
      await mustMay('bodies.read', 'getCheckpoint', await runOf(agentId))
      await services.read.caughtUp()
      // The source has this type; only the JSON form in between does not.
      return (await services.read.checkpoint(agentId, step)).value as Checkpoint | null
    },
    async agent(agentId, at = null) {
      await mustMay('bodies.read', 'getRunState', await runOf(agentId))
      return agentStateOf(await services.runtime.at(agentId, at))
    },
    async requests(agentId, turn) {
      await mustMay('bodies.read', 'getModelRequests', await runOf(agentId))
      return services.runtime.requests(agentId, turn)
    },
    async reused(runId) {
      await mustMay('bodies.read', 'getReused', runId)
      return services.runtime.reused(runId)
    },
    async compare(runId, other) {
      await mustMay('bodies.read', 'compareRuns', runId)
      return compareRunHistories(services, runId, other)
    },
    async fork(runId, { key, at = null, agent, ...options } = {}) {
      const { drive: _, by, ...asked } = parsed(ForkBody, { ...options, drive: false })
      const caller = await callers.caller(by, { right: 'runs.start', operation: 'fork', run: runId })
      const asking = { ...keyed(key), ...caller.options }
      const who = { by: caller.by, drive: options.drive ?? false, here: false, options: asking }
      return forkRun(services, agent ?? runId, { ...asked, at }, who)
    },
    close: end,
    [Symbol.asyncDispose]: end,
  }
}
