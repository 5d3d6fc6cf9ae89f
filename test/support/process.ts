import { Runtime } from '../../domain/agent/runtime/runtime.ts'
import type { BlobStore, EventLog, ModelProvider, Tool, Workspace } from '../../domain/ports/index.ts'
import type { CrashPoint, RuntimePorts } from '../../domain/ports/runtime.ts'
import { seededRandom } from './harness.ts'
import { NO_SECRETS } from './secrets/no-secrets.ts'
import type { VirtualClock } from './time/virtual-clock.ts'

export const NEVER = new Promise<never>(() => undefined)

/** The action at the nth crash point: the process dies, or its work is blocked until released. */
export interface Fate {
  readonly at: number
  readonly dies: boolean
}

/** The environment of a process. */
interface Surroundings {
  ports(process: Process, number: number): RuntimePorts
  fateAt(name: CrashPoint): Fate | undefined
}

/** One process: a runtime whose ports stop answering after its death. */
export class Process {
  readonly runtime: Runtime
  dead = false
  readonly died: Promise<'died'>
  readonly held: Promise<'held'>
  letGo: () => void = () => undefined
  die: () => void = () => undefined
  private hold: () => void = () => undefined
  private readonly gate: Promise<void>

  constructor(world: Surroundings, number: number) {
    this.died = new Promise((resolve) => {
      this.die = () => {
        this.dead = true
        resolve('died')
      }
    })
    this.held = new Promise((resolve) => {
      this.hold = () => resolve('held')
    })
    this.gate = new Promise((resolve) => {
      this.letGo = resolve
    })
    this.runtime = new Runtime({ ...world.ports(this, number), crashPoint: (name) => this.pass(world, name) })
  }

  private pass(world: Surroundings, name: CrashPoint): Promise<void> | undefined {
    if (this.dead) return NEVER
    const fate = world.fateAt(name)
    if (fate === undefined) return undefined
    if (fate.dies) {
      this.die()
      return NEVER
    }
    this.hold()
    return this.gate
  }

  /** The value; never settles if the process has died. */
  async living<T>(value: () => Promise<T>): Promise<T> {
    if (this.dead) return NEVER
    try {
      const result = await value()
      return this.dead ? await NEVER : result
    } catch (error) {
      if (this.dead) return NEVER
      throw error
    }
  }
}

/** The stores that all processes of a world share, and what one process works with. */
interface Shared {
  readonly log: EventLog
  readonly blobs: BlobStore
  readonly clock: VirtualClock
  readonly tools: readonly Tool[]
  readonly workspace?: Workspace
  readonly call: ModelProvider['call']
}

/** The ports of the nth process of a world. None answers after the process has died. */
export function mortalPorts(process: Process, number: number, shared: Shared): RuntimePorts {
  const { blobs, clock, call, workspace = null } = shared
  const tools = new Map(shared.tools.map((tool) => [tool.spec.name, tool]))
  return {
    log: mortalLog(process, shared.log),
    blobs,
    clock: {
      now: () => clock.now(),
      sleep: (ms, signal) => process.living(() => clock.sleep(ms, signal)),
      giveWay: () => (process.dead ? NEVER : clock.giveWay()),
    },
    random: seededRandom(`process ${number}`),
    feed: { publish: () => undefined },
    build: 'test',
    // A plan may block processes for any time.
    requestLimitMs: 2 ** 40,
    provider: () => ({ id: 'test', call: (...asked) => process.living(() => call(...asked)) }),
    hasTool: (name) => tools.has(name),
    secrets: async () => NO_SECRETS,
    environment: async () => ({
      workspace,
      sandbox: null,
      secrets: NO_SECRETS,
      tool: (name) => tools.get(name),
      reap: async () => undefined,
      close: async () => undefined,
    }),
  }
}

/** A log whose streams a process can read and append to until it dies. */
function mortalLog(process: Process, log: EventLog): EventLog {
  return {
    logId: log.logId,
    erases: log.erases,
    floor: () => log.floor(),
    append: (...args) => process.living(() => log.append(...args)),
    head: (stream) => process.living(() => log.head(stream)),
    async *read(...args) {
      for await (const page of log.read(...args)) yield await process.living(async () => page)
    },
    readAll: (...args) => log.readAll(...args),
    subscribe: (...args) => log.subscribe(...args),
    cursor: (event) => log.cursor(event),
    headCursor: () => log.headCursor(),
    streams: (prefix) => log.streams(prefix),
    close: () => log.close(),
  }
}
