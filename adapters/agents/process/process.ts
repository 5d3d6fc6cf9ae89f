import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { AgentError, NOT_TERMINATED } from '../../../domain/external/errors.ts'
import type { ExitStatus } from '../../../domain/external/exit-status.ts'
import { GIVE_UP_MS, GRACE_MS } from '../../../domain/external/owed.ts'
import { endWithUs, startGroup } from '../../processes/group.ts'
import { doorOf, makeCgroup, removeCgroup } from '../../sandbox/cgroup.ts'
import { filterArguments, giveFilter } from '../../sandbox/pass-filter.ts'
import { MARKER, type ProcessRegistry } from '../../sandbox/registry.ts'
import { readStatus, type Status } from '../../sandbox/status.ts'
import { askToEnd, endByForce, type ProcessFamily } from './descendants.ts'
import { LineSplitter, type OutputLine } from './lines.ts'
import { namespaceArguments } from './namespace.ts'

interface Launch {
  /** Absolute paths. */
  readonly program: string
  readonly cwd: string
  /** The agent's own temporary folder. */
  readonly scratch: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** False: stdin is `/dev/null`. An agent that reads from an open, silent pipe would wait for ever. */
  readonly stdin: boolean
  /** bubblewrap's path, for a process namespace. Null: use a process group, and a control group if available. */
  readonly bwrap: string | null
  /** bubblewrap's arguments that confine the agent. Absent: the agent has the user's rights. */
  readonly confining?: readonly string[] | undefined
  /** A command in the sandbox that runs the agent in its arguments. Absent: none. */
  readonly guard?: readonly string[] | undefined
  /** The filter of system calls of a confined agent; null: none for this architecture. */
  readonly filter?: Buffer | null | undefined
  /** Records running agents, so that they can be ended after a crash. */
  readonly registry: ProcessRegistry | null
  /**
   * `graceMs`: the time from SIGTERM to SIGKILL. `giveUpMs`: the time from SIGKILL until `exited` rejects. In ms.
   * Default: 5,000 each.
   */
  readonly graceMs?: number | undefined
  readonly giveUpMs?: number | undefined
}

export interface AgentProcess {
  readonly stdin: Writable | null
  /** The lines of stdout up to its end. While the consumer is not ready, nothing is read, and the process waits. */
  readonly lines: AsyncIterable<OutputLine>
  /**
   * Resolves when the process and all of its descendants have ended. Rejects with AgentError `Backend` if the process
   * did not start or did not end.
   */
  readonly exited: Promise<ExitStatus>
  /** Sends SIGTERM and later SIGKILL to the process and all of its descendants. */
  end(): void
  /** Closes the streams. The unread output is lost. */
  close(): void
}

/**
 * The interval of checks on the output of an ended process. An escaped process may still hold or write to the pipe. In
 * ms.
 */
const LOOK_MS = 1_000
/** The most output to read after the process has ended, in bytes. More than a pipe can contain. */
const MOST_LEFT = 8 * 1024 * 1024
/** Enters the control group in the first argument, if that is allowed, then executes the rest. */
const ENTER = 'if [ -n "$1" ]; then echo $$ 2>/dev/null > "$1"; fi; shift; exec "$@"'

/** Starts an agent in a new process group. A failure to start rejects `exited`. */
export function startProcess(launch: Launch): AgentProcess {
  const id = randomUUID()
  const cgroup = launch.bwrap === null ? makeCgroup(id) : null
  const entry = launch.registry?.begin(id, cgroup, launch.scratch)
  const status: Status = { child: null, exited: false }
  const forget = () => {
    entry?.ended()
    if (cgroup !== null) void removeCgroup(cgroup)
  }
  let child: ChildProcess
  try {
    child = spawned(launch, id, cgroup)
  } catch (cause) {
    forget()
    return unstarted(cause)
  }
  if (child.pid === undefined) {
    const failed = new Promise<never>((_, reject) => child.once('error', (cause) => reject(notStarted(cause))))
    forget()
    failed.catch(() => undefined)
    return { stdin: null, lines: nothing(), exited: failed, end: () => undefined, close: () => undefined }
  }
  const namespace = launch.bwrap === null ? {} : { namespace: () => status.child }
  const family: ProcessFamily = { id, leader: child.pid, cgroup, ...namespace }
  const over = endWithUs(child, () => endByForce(family))
  entry?.started(child.pid)
  const process_ = new Running(child, family, launch.bwrap === null ? null : status, launch)
  // A process that fails to terminate remains in the registry.
  child.once('exit', () => {
    over()
    forget()
  })
  return process_
}

function spawned(launch: Launch, id: string, cgroup: string | null): ChildProcess {
  const { program, args, cwd, env, stdin, bwrap, confining, guard = [], filter = null } = launch
  const first = stdin ? 'pipe' : 'ignore'
  const all = { ...env, [MARKER]: id }
  // stderr may contain secrets, so keepup neither reads nor shows it.
  if (bwrap !== null) {
    const streams = [first, 'pipe', 'ignore', 'pipe', ...(filter === null ? [] : (['pipe'] as const))] as const
    const inside = [...filterArguments(filter), ...namespaceArguments(cwd, confining), ...guard]
    const child = startGroup(bwrap, [...inside, program, ...args], streams, { cwd, env: all })
    // Without a process, `startProcess` reports why. The child then has no streams.
    if (child.pid !== undefined) giveFilter(child, filter)
    return child
  }
  const line = cgroup === null ? null : ['/bin/sh', '-c', ENTER, 'sh', doorOf(cgroup), program, ...args]
  const [file, rest] = line === null ? [program, [...args]] : [line[0]!, line.slice(1)]
  return startGroup(file, rest, [first, 'pipe', 'ignore'], { cwd, env: all })
}

class Running implements AgentProcess {
  readonly stdin: Writable | null
  readonly lines: AsyncIterable<OutputLine>
  readonly exited: Promise<ExitStatus>
  readonly #child: ChildProcess
  readonly #family: ProcessFamily
  readonly #launch: Launch
  readonly #timers: NodeJS.Timeout[] = []
  readonly #over = Promise.withResolvers<ExitStatus>()
  #exit: ExitStatus | null = null
  #ending = false
  #reading = false
  #chunks = 0
  #room = MOST_LEFT

  constructor(child: ChildProcess, family: ProcessFamily, status: Status | null, launch: Launch) {
    this.#launch = launch
    this.#child = child
    this.#family = family
    this.exited = this.#over.promise
    this.exited.catch(() => undefined)
    this.stdin = child.stdin
    // Writing fails if the process ends first or never reads.
    child.stdin?.on('error', () => undefined)
    child.on('error', () => undefined)
    // The pid inside the namespace may arrive only after the agent was ended.
    if (status !== null) readStatus(child, status, () => this.#ending && this.#exit !== null && endByForce(family))
    child.once('exit', (code, signal) => this.#left({ code, signal }))
    const closed =
      status === null ? Promise.resolve() : new Promise((resolve) => child.stdio[3]!.once('close', resolve))
    child.once('exit', async (code, signal) => {
      await closed
      if (status !== null && !status.exited && !this.#ending)
        this.#over.reject(notStarted(new Error('bubblewrap failed')))
      else this.#over.resolve(status === null ? { code, signal } : insideStatus({ code, signal }))
    })
    this.lines = { [Symbol.asyncIterator]: () => this.#read(child.stdout!) }
  }

  end(): void {
    if (this.#ending || this.#exit !== null) return
    this.#ending = true
    const { graceMs = GRACE_MS, giveUpMs = GIVE_UP_MS } = this.#launch
    askToEnd(this.#family)
    this.#after(graceMs, () => {
      endByForce(this.#family)
      this.#after(giveUpMs, () => {
        this.#over.reject(new AgentError('Backend', NOT_TERMINATED))
        this.close()
      })
    })
  }

  /** Processes that the agent left running belong to it, and would keep its output open. */
  #left(exit: ExitStatus): void {
    this.#exit = exit
    for (const timer of this.#timers) clearTimeout(timer)
    endByForce(this.#family)
    this.#child.stdin?.destroy()
    const stdout = this.#child.stdout!
    const look = async () => {
      if (await this.#isRead()) this.close()
      if (!stdout.closed) this.#after(LOOK_MS, look)
    }
    this.#after(LOOK_MS, look)
    stdout.once('close', () => {
      for (const timer of this.#timers) clearTimeout(timer)
    })
  }

  /** Whether all output written so far has been read. Later output is not from the agent. */
  async #isRead(): Promise<boolean> {
    const seen = this.#chunks
    // Data in the pipe arrives during these turns.
    for (let turns = 0; turns < 2; turns++) await new Promise(setImmediate)
    return this.#reading && this.#chunks === seen
  }

  #after(ms: number, act: () => void): void {
    this.#timers.push(setTimeout(act, ms))
  }

  close(): void {
    for (const stream of this.#child.stdio) (stream as Readable | Writable | null)?.destroy()
  }

  async *#read(stdout: Readable): AsyncGenerator<OutputLine> {
    const splitter = new LineSplitter()
    const chunks = stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>
    try {
      for (let over = false; !over; ) {
        this.#reading = true
        // A stream that was closed with its process counts as ended.
        const { value, done } = await chunks.next().catch(() => ({ value: undefined, done: true as const }))
        this.#reading = false
        this.#chunks++
        if (this.#exit !== null) this.#room -= value?.length ?? 0
        over = done === true || this.#room < 0
        if (value !== undefined) yield* splitter.push(value)
        if (over) yield* splitter.end()
      }
    } finally {
      stdout.destroy()
    }
  }
}

const SIGNALS = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name as NodeJS.Signals]))

/** bubblewrap exits with 128 + n if signal n ended the program in the namespace. */
function insideStatus(exit: ExitStatus): ExitStatus {
  const signal = exit.code === null ? undefined : SIGNALS.get(exit.code - 128)
  return signal === undefined ? exit : { code: null, signal }
}

async function* nothing(): AsyncGenerator<OutputLine> {}

function unstarted(cause: unknown): AgentProcess {
  const exited = Promise.reject(notStarted(cause))
  exited.catch(() => undefined)
  return { stdin: null, lines: nothing(), exited, end: () => undefined, close: () => undefined }
}

/** The message contains only the system's error code, because the system's message repeats the command line. */
function notStarted(cause: unknown): AgentError {
  const { code } = cause as NodeJS.ErrnoException
  return new AgentError('Backend', `the agent could not be started${typeof code === 'string' ? ` (${code})` : ''}`, {
    cause,
  })
}
