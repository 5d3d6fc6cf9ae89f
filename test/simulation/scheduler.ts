import { createHash } from 'node:crypto'
import type { Clock } from '../../domain/ports/index.ts'
import type { Choices } from './choices.ts'

/** A broken rule of the simulation. */
export class Violation extends Error {
  readonly rule: string
  constructor(rule: string, what: string) {
    super(`${rule}: ${what}`)
    this.name = 'Violation'
    this.rule = rule
  }
}

/** A process, or a server. It loses its memory when it dies; a frozen one takes no step. */
export class Host {
  readonly name: string
  alive = true
  frozen = false
  /** The difference of its clock to the world's, in ms. */
  ahead: number
  #last = 0

  constructor(name: string, ahead = 0) {
    this.name = name
    this.ahead = ahead
  }

  /** Like the system clock of the product, the time of a process never decreases. */
  now(time: number): number {
    this.#last = Math.max(this.#last, Math.floor(time) + this.ahead)
    return this.#last
  }
}

interface Step {
  readonly by: Host
  readonly what: string
  /** Steps of one lane keep their order. */
  readonly lane?: string | undefined
  /** The death of its process does not stop it, because a message is on its way. */
  readonly survives?: boolean
  /** Returns the outcome for the story; blank: the ordinary one. */
  run(roll: number): string
}

interface Timer {
  readonly by: Host
  readonly at: number
  readonly ring: () => void
  readonly what: string
}

/** A fault that the scheduler may cause instead of a step. `rate`: in 1,024 choices. */
export interface Disturbance {
  readonly rate: number
  /** Returns what happened, for the story. Null: nothing can be disturbed now. */
  cause(which: number, roll: number): string | null
}

/** A server or a disk of the world fails. No rule of the program is broken. */
export class Outage extends Error {
  override readonly name = 'Outage'
}

/** A failing port call. `done`: the call has happened, and only its answer is lost. */
export interface Fault {
  readonly done: boolean
  readonly error: Error
}

export interface CallOptions<T> {
  readonly lane?: string
  readonly survives?: boolean
  /** `roll` 0: no fault. */
  fault?(roll: number): Fault | null
  /** The answer for the story. */
  shows?(value: T): string
}

const NEVER = new Promise<never>(() => undefined)
const AT_ONCE = Promise.resolve()

/** Runs all steps of all processes one after the other, in an order that the choices decide. Nothing else waits or runs. */
export class Scheduler {
  readonly choices: Choices
  /** The world's time, in ms since the epoch. */
  time = Date.UTC(2026, 0, 18)
  count = 0
  /** False: takes the oldest step each time and causes no fault. */
  wild = true
  readonly story: string[] = []
  readonly disturbances: Disturbance[] = []
  /** Checked after each step. */
  check: () => void = () => undefined
  /** A broken rule that a port has noticed. */
  broken: Violation | null = null
  readonly #hash = createHash('sha256')
  #steps: Step[] = []
  readonly #timers = new Set<Timer>()

  constructor(choices: Choices) {
    this.choices = choices
  }

  /** The hash of everything that has happened. */
  get traceHash(): string {
    return this.#hash.copy().digest('hex')
  }

  add(step: Step): void {
    if (step.by.alive || step.survives) this.#steps.push(step)
  }

  /** A call of a port: one step performs it, another brings the answer. Never settles if the process dies before. */
  call<T>(by: Host, what: string, perform: (roll: number) => T | Promise<T>, options: CallOptions<T> = {}): Promise<T> {
    if (!by.alive) return NEVER
    const { lane, survives = false, fault = () => null, shows = () => '' } = options
    return new Promise((resolve, reject) => {
      const answer = (how: string, settle: () => void) =>
        this.add({
          by,
          what: `${what}${how}`,
          run: () => {
            settle()
            return ''
          },
        })
      const failed = (error: unknown) => answer(` → ${nameOf(error)}`, () => reject(error))
      const run = (roll: number) => {
        const failing = fault(roll)
        if (failing?.done === false) {
          failed(failing.error)
          return `does not happen (${nameOf(failing.error)})`
        }
        const done = (value: T) =>
          failing === null ? answer(` → ${shows(value) || 'ok'}`, () => resolve(value)) : failed(failing.error)
        try {
          const value = perform(roll)
          if (value instanceof Promise) value.then(done, failed)
          else done(value)
        } catch (error) {
          failed(error)
        }
        return failing === null ? '' : `happens, but its answer is lost (${nameOf(failing.error)})`
      }
      this.add({ by, what, lane, survives, run })
    })
  }

  /** The steps of a process that has died are gone, except those on their way. */
  kill(host: Host): void {
    host.alive = false
    host.frozen = false
    this.#steps = this.#steps.filter(({ by, survives }) => by !== host || survives)
    for (const timer of this.#timers) if (timer.by === host) this.#timers.delete(timer)
  }

  /** Calls `ring` after `ms`, unless the returned function is called before. */
  timer(by: Host, ms: number, what: string, ring: () => void): () => void {
    if (!by.alive) return () => undefined
    const timer = { by, at: this.time + Math.max(0, ms), ring, what }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  clock(by: Host): Clock {
    return {
      now: () => by.now(this.time),
      alarm: (ms, ring) => this.timer(by, ms, 'alarm', ring),
      sleep: (ms, signal) =>
        new Promise((resolve, reject) => {
          if (signal?.aborted) return reject(signal.reason)
          const off = this.timer(by, ms, 'wakes', () => {
            signal?.removeEventListener('abort', onAbort)
            resolve()
          })
          const onAbort = () => {
            off()
            reject(signal?.reason)
          }
          signal?.addEventListener('abort', onAbort, { once: true })
        }),
      // The same promise each time: the number of microtasks must not depend on real time.
      giveWay: () => AT_ONCE,
    }
  }

  /** Performs one step. False: there is none, and no time to wait for. */
  async tick(): Promise<boolean> {
    await idle()
    const choice = this.wild ? this.choices.next() : 0
    const [action, which, roll] = [choice & 1023, (choice >>> 10) & 1023, choice >>> 20]
    const moved = (choice > 0 && this.#disturb(action, which, roll)) || this.#take(choice > 0 ? which : 0, roll)
    await idle()
    if (this.broken !== null) throw this.broken
    this.check()
    return moved
  }

  /** Whether a step could be taken without time passing. */
  get ready(): boolean {
    return this.#ready().length > 0
  }

  #disturb(action: number, which: number, roll: number): boolean {
    let from = 0
    for (const { rate, cause } of this.disturbances) {
      if (action >= from && action < from + rate) {
        const what = cause(which, roll)
        if (what === null) return false
        this.tell(`!! ${what}`)
        return true
      }
      from += rate
    }
    return false
  }

  #ready(): readonly Step[] {
    const lanes = new Set<string>()
    const ready: Step[] = []
    for (const step of this.#steps) {
      if (step.by.frozen) continue
      if (step.lane !== undefined) {
        if (lanes.has(step.lane)) continue
        lanes.add(step.lane)
      }
      ready.push(step)
    }
    return ready
  }

  #take(which: number, roll: number): boolean {
    const ready = this.#ready()
    const step = ready[which % Math.max(1, ready.length)]
    if (step === undefined) return this.passTime()
    this.#steps.splice(this.#steps.indexOf(step), 1)
    const outcome = step.run(roll)
    this.tell(`${step.by.name} ${step.what}${outcome === '' ? '' : `: ${outcome}`}`)
    return true
  }

  /** Advances the time to the next timer. */
  passTime(): boolean {
    let next: Timer | null = null
    for (const timer of this.#timers) if (!timer.by.frozen && (next === null || timer.at < next.at)) next = timer
    if (next === null) return false
    this.#timers.delete(next)
    const passed = Math.max(0, next.at - this.time)
    this.time += passed
    this.tell(`${next.by.name} ${next.what}${passed > 0 ? ` after ${passed} ms` : ''}`)
    next.ring()
    return true
  }

  /** Adds a line to the story. */
  tell(line: string): void {
    this.count++
    this.story.push(line)
    this.#hash.update(line).update('\n')
  }
}

const nameOf = (error: unknown): string =>
  (error as { code?: string }).code ?? (error as Error).message ?? String(error)

/** Resolves when no more microtask can run. */
const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
