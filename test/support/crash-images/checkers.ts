import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { newPlace, type Place } from '../faults/cli.ts'
import { programFile } from '../programs/program.ts'
import type { Answer, Question } from './checker.ts'
import type { Findings, Said, Scenario } from './scenario.ts'

const CHECKER = programFile('test/support/crash-images/checker.ts')

/** A process that opens images in a place of its own. */
export class Checker {
  readonly place: Place
  readonly #process: ChildProcess
  readonly #remove: () => void
  /** The open files after the first check. */
  #files: number | null = null
  #most = 0

  constructor() {
    const { remove, ...place } = newPlace()
    this.place = place
    this.#remove = remove
    this.#process = fork(CHECKER, { execArgv: [], stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  }

  /** Checks what a scenario's program left in the place. Rejects if the process ends. */
  async check({ name }: Scenario, said: Said): Promise<Findings> {
    const ended = new AbortController()
    const { signal } = ended
    const dies = once(this.#process, 'exit', { signal }).then(([code, killed]) => {
      throw new Error(`the process that opens images ended with ${code ?? killed}`)
    })
    dies.catch(() => undefined)
    try {
      const answered = once(this.#process, 'message', { signal })
      this.#process.send({ scenario: name, root: this.place.root, said } satisfies Question)
      const [{ open, ...findings }] = (await Promise.race([answered, dies])) as [Answer]
      this.#files ??= open
      this.#most = Math.max(this.#most, open)
      return findings
    } finally {
      ended.abort()
    }
  }

  /** The files that the process has opened and not closed since its first check. */
  get leaked(): number {
    return this.#most - (this.#files ?? 0)
  }

  async close(): Promise<void> {
    const ended = once(this.#process, 'exit')
    if (this.#process.connected) {
      this.#process.disconnect()
      await ended
    }
    this.#remove()
  }
}
