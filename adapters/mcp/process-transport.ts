import type { ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client'
import { tailOf } from '../../domain/calls/truncate.ts'
import { endWithUs, signalTo, startGroup } from '../processes/group.ts'
import type { ConfinedProgram } from '../sandbox/confined-program.ts'
import { giveFilter } from '../sandbox/pass-filter.ts'
import { endMarked, MARKER, type ProcessRegistry } from '../sandbox/registry.ts'
import { readStatus, type Status } from '../sandbox/status.ts'
import { LineReader } from './line-reader.ts'
import { MAX_MESSAGE_BYTES, requireParsable } from './message-bounds.ts'

export interface ServerProgram {
  /** Absolute path. */
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** The marker of the process and all of its descendants. */
  readonly id: string
  /** Set for a sandboxed program. `ended` is called after the process has ended. */
  readonly confined?: Pick<ConfinedProgram, 'cgroup' | 'filter' | 'ended'>
}

/** Some servers write logs to stdout. keepup ends a server after this many lines that are not messages. */
const MAX_STRAY_LINES = 1_000
/** The kept end of stderr, in bytes. */
const STDERR_BYTES = 2_048
/** A server has this time to exit after its input ends, and again after SIGTERM, in ms. */
const GRACE_MS = 1_000

/** MCP over the standard streams of a process in a separate process group. `close` leaves no process behind. */
export class ProcessTransport implements Transport {
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  onmessage?: Transport['onmessage']
  /** The SDK recognizes a process transport by this member and `pid`. */
  readonly stderr = null
  readonly #program: ServerProgram
  readonly #registry: ProcessRegistry | undefined
  readonly #status: Status = { child: null, exited: false }
  #child: ChildProcess | null = null
  #ended: Promise<void> = Promise.resolve()
  #stderr = ''
  #why: string | null = null
  /** keepup ended the server because of its output. */
  #refused = false

  constructor(program: ServerProgram, registry?: ProcessRegistry) {
    this.#program = program
    this.#registry = registry
  }

  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  /** How the server ended, with the end of its stderr; null while it runs. */
  get ending(): string | null {
    const { exitCode = null, signalCode = null } = this.#child ?? {}
    const byUs = this.#why === null ? null : `was ended: ${this.#why}`
    const bySignal = signalCode === null ? null : `was ended by ${signalCode}`
    const exited = exitCode === null ? null : `exited with ${exitCode}`
    // Prefer the server's own exit code: a server that exits may close its input first, and keepup then ends it. If
    // keepup ended the server because of its output, report that.
    const ended = this.#refused ? byUs : (exited ?? byUs ?? bySignal)
    const last = this.#stderr.trim()
    return ended === null ? null : `${ended}${last === '' ? '' : `; its last words: ${last}`}`
  }

  start(): Promise<void> {
    const { file, args, cwd, env, id, confined } = this.#program
    const entry = this.#registry?.begin(id, confined?.cgroup ?? null)
    const reports = confined ? (['pipe'] as const) : []
    const filter = confined?.filter ? (['pipe'] as const) : []
    const stdio = ['pipe', 'pipe', 'pipe', ...reports, ...filter] as const
    const child = startGroup(file, args, stdio, { cwd, env: { ...env, [MARKER]: id } })
    this.#child = child
    if (confined) {
      readStatus(child, this.#status, () => undefined)
      giveFilter(child, confined.filter)
    }
    const forget = endWithUs(child, () => signalGroup(child, 'SIGKILL'))
    if (child.stdout !== null) void this.#read(child.stdout)
    child.stderr?.on('data', (piece: Buffer) => {
      this.#stderr = tailOf(this.#stderr + piece.toString('utf8'), STDERR_BYTES).toWellFormed()
    })
    child.stdin?.on('error', () => this.#end('it closed its input'))
    this.#ended = new Promise((resolve) => {
      const over = () => {
        forget()
        entry?.ended()
        confined?.ended()
        this.onclose?.()
        resolve()
      }
      child.once('exit', () => {
        // End the processes that the server has left running. They keep its streams open.
        signalGroup(child, 'SIGKILL')
        endMarked(id, child.pid)
      })
      child.once('close', over)
      child.once('error', () => child.pid === undefined && over())
    })
    return new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('spawn', () => {
        entry?.started(child.pid as number)
        resolve()
      })
    })
  }

  /** Yields to the event loop after each message, so that a flood of messages blocks nothing else. */
  async #read(stdout: Readable): Promise<void> {
    const reader = new LineReader(MAX_MESSAGE_BYTES)
    let stray = 0
    try {
      for await (const piece of stdout) {
        for (const line of reader.push(piece as Buffer)) {
          const message = messageOf(line)
          if (message !== null) this.onmessage?.(message)
          else if (line.trim() !== '' && ++stray > MAX_STRAY_LINES)
            throw new Error(`it sent more than ${MAX_STRAY_LINES} lines that are no messages`)
          await setImmediate()
        }
      }
    } catch (error) {
      this.#refused = true
      this.#end((error as Error).message)
      this.onerror?.(error as Error)
    }
  }

  #end(why: string): void {
    this.#why ??= why
    if (this.#child !== null) signalGroup(this.#child, 'SIGKILL')
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin
    if (!stdin?.writable) throw new Error(`the server ${this.ending ?? 'does not run'}`)
    const written = Promise.withResolvers<void>()
    stdin.write(serializeMessage(message), (error) => (error ? written.reject(error) : written.resolve()))
    await written.promise.catch(async (error) => {
      // Wait for the exit: how the server ended says more than a failed write.
      await this.#ended
      throw error
    })
  }

  async close(): Promise<void> {
    const child = this.#child
    if (child === null) return
    child.stdin?.end()
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const timer = setTimeout(() => this.#signal(child, signal), GRACE_MS)
      const late = new Promise((resolve) => setTimeout(resolve, GRACE_MS + 10).unref())
      await Promise.race([this.#ended, late])
      clearTimeout(timer)
    }
    await this.#ended
  }

  /** Sends SIGTERM to the group inside the sandbox. If bubblewrap got it, the server would die at once. */
  #signal(child: ChildProcess, signal: NodeJS.Signals): void {
    const { child: inside } = this.#status
    if (signal === 'SIGTERM' && inside !== null && child.exitCode === null) signalTo(-inside, signal)
    else signalGroup(child, signal)
  }
}

/** The message in a line; null if the line is not a message. Throws if parsing would take long. */
function messageOf(line: string): JSONRPCMessage | null {
  requireParsable(line)
  try {
    return parseJSONRPCMessage(JSON.parse(line))
  } catch {
    return null
  }
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined) signalTo(-pid, signal)
}
