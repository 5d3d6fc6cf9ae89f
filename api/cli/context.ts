import { Refused, take } from '../http/answers.ts'
import { accountName } from '../operations/access/account-name.ts'
import { Problem } from '../operations/problem.ts'
import type { Services } from '../operations/services.ts'
import { type Config, loadConfig } from '../process/config/settings.ts'
import { type Backend, OwnerError } from '../process/owner/backend.ts'
import { connect, type OpenServices } from '../process/owner/connect.ts'
import type { ServiceLog } from '../process/service-log/service-log.ts'
import { type Client, clientOf } from './client.ts'
import { CliError, UsageError } from './exit.ts'
import { type Paint, painter } from './output/colours.ts'
import { csvRecords } from './output/csv.ts'
import type { Progress } from './output/progress.ts'
import { type Column, table } from './output/table.ts'
import { quoted, safe } from './output/text.ts'
import { ownerAnswer } from './owner-answer.ts'

export const FORMATS = ['table', 'json', 'jsonl', 'csv'] as const
export type Format = (typeof FORMATS)[number]

export interface Stream {
  /** False: the buffer is full; wait for `drain`. */
  write(text: string, done?: () => void): unknown
  once?(event: 'drain', then: () => void): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

/** The environment of a command line. */
export interface CliIo {
  readonly stdout: Stream
  readonly stderr: Stream
  readonly stdin: NodeJS.ReadStream
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  readonly open: OpenServices
  /** The command that started this program, for advice to people. */
  readonly program: string
}

export interface GlobalOptions {
  readonly data?: string
  readonly config?: string
  readonly output: Format
  /** True: no line of progress. */
  readonly quiet?: boolean
  readonly by?: string
}

/** The most owners that one request tries. */
const OWNERS = 20

/** Whether a repeated request has the same effect as one. A PUT sets the whole value. */
const repeatable = ({ method, headers }: Request): boolean =>
  method === 'GET' || method === 'PUT' || headers.has('idempotency-key')

/** The context of every command: settings, output and the backend. */
export class Context {
  readonly config: Config
  readonly io: CliIo
  readonly format: Format
  readonly paint: Paint
  readonly #ownFolder: readonly string[]
  #nameChecked = false
  /** Shown until the first output, or until the end if the command reports its progress. Commands that ask people or write all the time have none. */
  progress: Progress | null = null
  #backend: Backend | null = null
  #lagTold = false

  constructor(io: CliIo, options: GlobalOptions, flags: Readonly<Record<string, unknown>> = {}) {
    this.io = io
    this.format = options.output
    this.paint = painter(io.stderr, io.env)
    this.#ownFolder = options.data === undefined ? [] : ['--data', quoted(options.data)]
    this.config = loadConfig({
      flags: { ...flags, data: options.data, by: options.by },
      env: io.env,
      ...(options.config === undefined ? {} : { file: options.config }),
    })
  }

  /**
   * The name of the person: `--by` or the setting, otherwise the user of the operating system. Undefined: the key of
   * this command line names the person.
   */
  get by(): string | undefined {
    if (this.config.by !== null) return this.config.by
    if (this.config.key !== null) return undefined
    return accountName()
  }

  /** True if a person at a terminal can answer questions. */
  get interactive(): boolean {
    return this.io.stdin.isTTY === true && this.io.stderr.isTTY === true
  }

  async backend(need: 'read' | 'write'): Promise<Backend> {
    this.#backend ??= await connect({
      config: this.config,
      env: this.io.env,
      open: this.io.open,
      need,
      onNote: (text) => this.note(text),
      onFault: (error, path, requestId) =>
        this.note(
          `${requestId === undefined ? '' : `request ${requestId}: `}${path}: ${error instanceof Error ? (error.stack ?? error.message) : error}`,
        ),
    })
    return this.#backend
  }

  /**
   * A client for the folder's owner. If the owner changes before the answer, the client repeats the request at the next
   * one.
   */
  async client(need: 'read' | 'write'): Promise<Client> {
    await this.backend(need)
    const client = this.clientOver({ fetch: (asked) => this.#outliving(need, asked) })
    if (need === 'write') await this.#mustBeOwnName(client)
    return client
  }

  /** Rejects with BY_REFUSED a given name that facts would not record. Many requests do not contain the name. */
  async #mustBeOwnName(client: Client): Promise<void> {
    const { by, key } = this.config
    if (by === null || this.#nameChecked) return
    const { principal } = await take(client.v1.access.me.$get({}))
    if (principal !== null && principal !== by) {
      const why = key === null ? 'without a key facts' : 'with this key facts'
      const todo = `leave out --by (KEEPUP_BY, or "by" in the settings), or use a key of ${by}`
      throw new Problem('BY_REFUSED', `${why} record "${principal}"; ${todo}`)
    }
    this.#nameChecked = true
  }

  /** A client for this backend only. */
  clientOver(backend: Pick<Backend, 'fetch'>): Client {
    return clientOf(backend, () => {
      if (!this.#lagTold) this.note('the tables lag behind the log, because the disk is full; make room on it')
      this.#lagTold = true
    })
  }

  async #outliving(need: 'read' | 'write', asked: Request): Promise<Response> {
    for (let owners = 1; ; owners++) {
      const backend = await this.backend(need)
      try {
        const response = await backend.fetch(asked.clone())
        // Read the whole body here, because an owner may end in the middle of it.
        const whole = new Response(await response.blob(), response)
        return backend.kind === 'remote' ? await ownerAnswer(whole, this.config.data) : whole
      } catch (error) {
        const gone = error instanceof OwnerError && error.code === 'OWNER_GONE'
        if (!gone || owners === OWNERS || !repeatable(asked)) throw error
        if (this.#backend === backend) await this.leave()
      }
    }
  }

  /**
   * A context that reads a data folder and never becomes its owner. It asks a running owner, or reads the folder with tables
   * of its own.
   */
  archive(data: string): Context {
    const open: (...parts: Parameters<OpenServices>) => Promise<Services> = async (config, _, options, own) => {
      const services = await this.io.open(config, 'reader', options, { ...own, archive: true })
      if (services === null)
        throw new CliError(`${data} has no log; name a folder that "${this.command('backup')}" wrote`)
      return services
    }
    return new Context({ ...this.io, open }, { data, output: this.format })
  }

  /** Closes the backend. The next use connects again. */
  async leave(): Promise<void> {
    const backend = this.#backend
    this.#backend = null
    await backend?.close()
  }

  /** A command for a person to type, with the options that name the same data folder. */
  command(...words: readonly string[]): string {
    return [this.io.program, ...words, ...this.#ownFolder].join(' ')
  }

  /** A line for the person, on stderr. */
  note(text: string): void {
    this.progress?.clear()
    this.io.stderr.write(`${safe(text)}\n`)
  }

  /** The log for the operator of this process, on stderr. */
  async serviceLog(): Promise<ServiceLog> {
    const { serviceLog } = await import('../process/service-log/service-log.ts')
    return serviceLog(this.config, (line) => this.io.stderr.write(line), safe)
  }

  /** A line that is already sanitized and may contain colours. */
  line(painted: string): void {
    this.progress?.clear()
    this.io.stderr.write(`${painted}\n`)
  }

  data(text: string): void {
    this.progress?.clear()
    this.io.stdout.write(text)
  }

  /** Data of any size. Waits for the reader of stdout. */
  async flow(text: string): Promise<void> {
    this.progress?.clear()
    const { stdout } = this.io
    if (stdout.write(text) !== false || stdout.once === undefined) return
    await new Promise<void>((resolve) => stdout.once?.('drain', resolve))
  }

  /** Resolves when all data has left this process. */
  async flushed(): Promise<void> {
    const { stdout } = this.io
    if (stdout.once !== undefined) await new Promise<void>((resolve) => stdout.write('', resolve))
  }

  /** Whether records are written as JSON. */
  get isJson(): boolean {
    return this.format === 'json' || this.format === 'jsonl'
  }

  /** One record in the chosen format; as CSV its members are columns. `lines`: its form for people. */
  show(record: unknown, lines: () => readonly string[]): void {
    if (this.format === 'json') this.data(`${JSON.stringify(record, null, 2)}\n`)
    else if (this.format === 'jsonl') this.data(`${JSON.stringify(record)}\n`)
    else if (this.format === 'csv' && typeof record === 'object' && record !== null)
      this.data(csvRecords([record].flat()))
    else for (const line of lines()) this.data(`${safe(line)}\n`)
  }

  /** Many records: one JSON array, one JSON value per line, CSV with the members as columns, or a table. */
  list<T extends object>(rows: readonly T[], columns: readonly Column<T>[]): void {
    if (this.format === 'json') this.data(`${JSON.stringify(rows, null, 2)}\n`)
    else if (this.format === 'jsonl') for (const row of rows) this.data(`${JSON.stringify(row)}\n`)
    else if (this.format === 'csv') this.data(csvRecords(rows))
    else {
      const width = this.io.stdout.isTTY ? (this.io.stdout.columns ?? null) : null
      for (const line of table(rows, columns, width)) this.data(`${line}\n`)
    }
  }

  /** Finds a run by a prefix of its id. Throws a UsageError if the prefix matches none or several. */
  async runId(prefix: string, need: 'read' | 'write'): Promise<string> {
    if (!/^[\w.-]+$/.test(prefix)) throw new UsageError(`"${prefix}" is no run id`)
    const client = await this.client(need)
    const { runs } = await take(client.v1.runs.$get({ query: { prefix, limit: '5' } }))
    if (runs.some((r) => r.runId === prefix)) return prefix
    // Runs with an unreadable first event are not in any list.
    const { parked } = await take(client.v1.projections.$get({}))
    const ids = [...new Set([...runs, ...parked].map(({ runId }) => runId))].filter((id) => id.startsWith(prefix))
    const [first] = ids.includes(prefix) ? [prefix] : ids
    if (first === undefined) {
      const run = await this.#runOfAgent(prefix)
      if (run !== null) throw new UsageError(`"${prefix}" is an agent of the run ${run}; name the run`)
      throw new UsageError(`no run begins with "${prefix}"; see "${this.command('runs', 'list')}"`)
    }
    if (ids.length === 1 || first === prefix) return first
    throw new UsageError(`"${prefix}" is not unique: ${ids.slice(0, 5).join(', ')}${ids.length >= 5 ? ', …' : ''}`)
  }

  /** The run of an agent below a root. Null: the agent does not exist. */
  async #runOfAgent(id: string): Promise<string | null> {
    const client = await this.client('read')
    const first = client.v1.agents[':id'].events.$get({ param: { id }, query: { from: '0', limit: '1' } })
    return take(first).then(
      ({ events }) => events[0]?.runId ?? null,
      (error: unknown) => {
        if (error instanceof Refused) return null
        throw error
      },
    )
  }

  /**
   * Finds a call by its id, by a prefix of a waiting call with a shortened run id, or by a run with only one waiting
   * call.
   */
  async callId(text: string, waiting: 'approval' | 'doubt'): Promise<string> {
    const [, agent = text, rest = ''] = /^(.+?)(\.t(?:\d+(?:\.(?:c\d*)?)?)?)$/.exec(text) ?? []
    if (/c\d+$/.test(rest)) {
      // Agents below the root have longer ids, which cannot be shortened.
      const client = await this.client('write')
      const { runs } = await take(client.v1.runs.$get({ query: { prefix: agent, limit: '2' } }))
      return runs.length === 1 ? `${runs[0]!.runId}${rest}` : text
    }
    const id = await this.runId(agent, 'write')
    const client = await this.client('write')
    const { asks } = await take(client.v1.runs[':id'].$get({ param: { id } }))
    const calls = asks.flatMap((one) => (one.for === waiting && one.toolCallId !== null ? [one.toolCallId] : []))
    // A call of an agent below the root begins with that agent's id.
    const meant = rest === '' ? calls : calls.filter((call) => call.startsWith(id + rest))
    if (meant.length === 1) return meant[0]!
    if (meant.length > 0) throw new UsageError(`say which call: ${meant.join(', ')}`)
    const { approvals, show } = { approvals: this.command('approvals'), show: this.command('runs', 'show', id) }
    throw new CliError(`nothing of ${id}${rest} waits for this; see "${approvals}" and "${show}"`)
  }
}
