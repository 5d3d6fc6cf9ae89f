import { Runtime } from '../../domain/agent/runtime/runtime.ts'
import type { CrashPoint, RuntimePorts } from '../../domain/ports/runtime.ts'

export const NEVER = new Promise<never>(() => undefined)

/** The action at the nth crash point: the process dies, or its work is blocked until released. */
export interface Fate {
  readonly at: number
  readonly dies: boolean
}

/** The environment of a process. */
export interface Surroundings {
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
