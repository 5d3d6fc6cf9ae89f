import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client'
import { tailOf } from '../../domain/calls/bounded.ts'
import type { ConfinedProgram } from '../sandbox/confined-program.ts'
import { withoutForeign } from '../sandbox/descriptors.ts'
import { giveFilter } from '../sandbox/given-filter.ts'
import { signalTo } from '../sandbox/process.ts'
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
  /** Marks it and all that it starts. */
  readonly id: string
  /** In the sandbox: `ended` is called when it has ended. Absent: outside of it. */
  readonly confined?: Pick<ConfinedProgram, 'cgroup' | 'filter' | 'ended'>
}

/** Lines that are no messages: some servers write their log there. One that writes only such lines is ended. */
const MAX_STRAY_LINES = 1_000
/** The kept end of the error stream, in bytes. */
const STDERR_BYTES = 2_048
/** For the end after its input has ended, and again after SIGTERM, before SIGKILL. In ms. */
const GRACE_MS = 1_000

/** Server processes that run now: one that ends leaves none of them behind. */
const running = new Set<ChildProcess>()
const endAll = () => {
  for (const child of running) signalGroup(child, 'SIGKILL')
}

/** MCP over the standard streams of a process in a group of its own. Nothing of it is left after `close`. */
export class ProcessTransport implements Transport {
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  onmessage?: Transport['onmessage']
  /** The SDK knows a transport of a process by this and by `pid`. */
  readonly stderr = null
  readonly #program: ServerProgram
  readonly #registry: ProcessRegistry | undefined
  readonly #status: Status = { child: null, exited: false }
  #child: ChildProcess | null = null
  #ended: Promise<void> = Promise.resolve()
  #stderr = ''
  #why: string | null = null
  /** It was ended for what it sent. */
  #refused = false

  constructor(program: ServerProgram, registry?: ProcessRegistry) {
    this.#program = program
    this.#registry = registry
  }

  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  /** How the server ended, in words with the end of its error stream; null: it runs. */
  get ending(): string | null {
    const { exitCode = null, signalCode = null } = this.#child ?? {}
    const byUs = this.#why === null ? null : `was ended: ${this.#why}`
    const bySignal = signalCode === null ? null : `was ended by ${signalCode}`
    const exited = exitCode === null ? null : `exited with ${exitCode}`
    // A server whose output is not read any more exits by itself, and one that exits does not read its input any more.
    const ended = this.#refused ? byUs : (exited ?? byUs ?? bySignal)
    const last = this.#stderr.trim()
    return ended === null ? null : `${ended}${last === '' ? '' : `; its last words: ${last}`}`
  }

  start(): Promise<void> {
    const { file, args, cwd, env, id, confined } = this.#program
    const entry = this.#registry?.begin(id, confined?.cgroup ?? null)
    const reports = confined ? (['pipe'] as const) : []
    const filter = confined?.filter ? (['pipe'] as const) : []
    const child = withoutForeign(['pipe', 'pipe', 'pipe', ...reports, ...filter], (stdio) =>
      spawn(file, args, { cwd, env: { ...env, [MARKER]: id }, stdio, detached: true }),
    )
    this.#child = child
    if (confined) {
      readStatus(child, this.#status, () => undefined)
      giveFilter(child, confined.filter)
    }
    if (running.size === 0) process.on('exit', endAll)
    running.add(child)
    if (child.stdout !== null) void this.#read(child.stdout)
    child.stderr?.on('data', (piece: Buffer) => {
      this.#stderr = tailOf(this.#stderr + piece.toString('utf8'), STDERR_BYTES).toWellFormed()
    })
    child.stdin?.on('error', () => this.#end('it closed its input'))
    this.#ended = new Promise((resolve) => {
      const over = () => {
        running.delete(child)
        if (running.size === 0) process.off('exit', endAll)
        entry?.ended()
        confined?.ended()
        this.onclose?.()
        resolve()
      }
      child.once('exit', () => {
        // Processes that it has left running hold its streams open.
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

  /** Gives way to others after each message, so that a server that sends without end holds up nothing else. */
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
      // How it ended says more than that it cannot be written to.
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

  /** bubblewrap itself would die of SIGTERM, and end the server with it at once. */
  #signal(child: ChildProcess, signal: NodeJS.Signals): void {
    const { child: inside } = this.#status
    if (signal === 'SIGTERM' && inside !== null && child.exitCode === null) signalTo(-inside, signal)
    else signalGroup(child, signal)
  }
}

/** A line as a message; null: it is none. Throws where parsing it would take long. */
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
