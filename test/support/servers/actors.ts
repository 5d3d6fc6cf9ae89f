import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFailed, onTestFinished } from 'vitest'

const PROGRAM = fileURLToPath(new URL('./actor.ts', import.meta.url))
/** Loaded before the program: they set its clock, and write down its appends. */
const BEFORE = ['../time/skewed-date.ts', './history.ts'].map((path) => `--import=${new URL(path, import.meta.url)}`)

/** A process of a deployment, and its output. */
export class Actor {
  readonly lines: string[] = []
  readonly ended: Promise<number | null>
  readonly #child: ChildProcess
  readonly #looks = new Set<() => void>()
  #over = false

  constructor(child: ChildProcess, heard: (line: string) => void) {
    this.#child = child
    this.ended = once(child, 'exit').then(([code]) => code as number | null)
    createInterface(child.stdout!).on('line', (line) => {
      this.lines.push(line)
      heard(line)
      for (const look of this.#looks) look()
    })
    // The last output arrives after the exit event.
    child.once('close', () => {
      this.#over = true
      for (const look of this.#looks) look()
    })
    // Read stderr here: a child that inherits our output would keep it open.
    createInterface(child.stderr!).on('line', (line) => this.lines.push(`stderr: ${line}`))
    child.stdin!.on('error', () => undefined)
  }

  /** Resolves when the output has `count` lines that start with `begin`; rejects if the process ends before. */
  said(begin: string, count = 1): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = this.lines.filter((line) => line.startsWith(begin))
        if (found.length >= count) resolve(found)
        else if (this.#over)
          reject(new Error(`ended without saying "${begin}" ${count} times:\n${this.lines.join('\n')}`))
        else return
        this.#looks.delete(look)
      }
      this.#looks.add(look)
      look()
    })
  }

  /** Resolves when the process has answered, after work that was in progress at the request. */
  async answers(): Promise<void> {
    for (let round = 0; round < 2; round++) {
      const word = `asked ${this.lines.length} ${round}`
      this.tell(word)
      await this.said(word)
    }
  }

  tell(line: string): void {
    this.#child.stdin!.write(`${line}\n`)
  }

  /** Ends the worker with SIGTERM, after its started work. Returns the exit code. */
  drained(): Promise<number | null> {
    this.kill('SIGTERM')
    return this.ended
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }
}

/** A deployment's data folder and effects folder. Its processes end with the test. */
export function deployment(env: Record<string, string>) {
  const root = mkdtempSync(join(tmpdir(), 'keepup-servers-'))
  const [data, effects, history] = [join(root, 'data'), join(root, 'effects'), join(root, 'history')]
  mkdirSync(effects)
  mkdirSync(history)
  const actors: Actor[] = []
  let left = 0
  const counting = new Set<() => void>()
  const heard = (line: string) => {
    if (!line.startsWith('effect ')) return
    left++
    for (const look of counting) look()
  }
  /** Resolves when all processes together have reported `count` effects. */
  const effectsLeft = (count: number) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (left < count) return
        counting.delete(look)
        resolve()
      }
      counting.add(look)
      look()
    })
  onTestFailed(() => {
    for (const [n, { lines }] of actors.entries()) console.error(`process ${n}:\n${lines.slice(-20).join('\n')}`)
  })
  onTestFinished(async () => {
    for (const actor of actors) actor.kill('SIGKILL')
    await Promise.all(actors.map(({ ended }) => ended))
    rmSync(root, { recursive: true, force: true })
  })
  const act = (verb: string, count = 0, more: Record<string, string> = {}): Actor => {
    // A short process spends most of its time loading the program, so processes share compiled code.
    const own = {
      PATH: process.env.PATH ?? '',
      HOME: root,
      XDG_CONFIG_HOME: process.env.XDG_CONFIG_HOME ?? '',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
      TMPDIR: tmpdir(),
      KEEPUP_HISTORY: history,
    }
    const environment = { ...own, KEEPUP_DRAIN_MS: '60000', ...env, ...more }
    const child = spawn(process.execPath, [...BEFORE, PROGRAM, data, effects, verb, String(count)], {
      env: environment,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const actor = new Actor(child, heard)
    actors.push(actor)
    return actor
  }
  /** Runs a verb to its end and returns the output. */
  const done = async (verb: string, count = 0): Promise<readonly string[]> => {
    const actor = act(verb, count)
    await actor.said('closed')
    await actor.ended
    return actor.lines
  }
  const worker = async (verb: string, concurrency: number, more: Record<string, string> = {}): Promise<Actor> => {
    const actor = act(verb, concurrency, { KEEPUP_CONCURRENCY: String(concurrency), ...more })
    await actor.said('working')
    return actor
  }
  /** `more`: settings of this worker alone, such as the proxies of its servers or its clock. */
  const work = (concurrency = 4, more: Record<string, string> = {}) => worker('work', concurrency, more)
  /** A worker that is blocked at the first effect of each of its `concurrency` runs, until "go". */
  const hold = (concurrency = 4, more: Record<string, string> = {}) => worker('hold', concurrency, more)
  const check = async () => JSON.parse((await done('check')).find((line) => line.startsWith('{'))!) as Checked
  return { root, data, act, done, work, hold, check, effectsLeft }
}

export interface Checked {
  readonly runs: number
  readonly events: number
  readonly wrong: readonly string[]
  readonly equal: boolean
  readonly differences: readonly string[]
  readonly epochs: { readonly most: number; readonly twice: readonly string[] }
}

/** Checks `runs` runs after any faults of their workers. */
export const allRight = (runs: number) => ({
  runs,
  wrong: [],
  equal: true,
  differences: [],
  epochs: { twice: [] },
})
