import { mkdirSync, realpathSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { fakeProgram, type Step } from '../../../adapters/agents/process/fake-steps.ts'
import { type KeepUp, openKeepUp } from '../../../api/index.ts'
import { tempFolder } from '../folders.ts'

export const line = (value: object): Step => ({ do: 'print', text: JSON.stringify(value) })
export const INIT = line({ type: 'system', subtype: 'init', session_id: 's-1', model: 'm1' })
export const says = (text: string): Step => line({ type: 'assistant', message: { content: [{ type: 'text', text }] } })

const RESULT = {
  ...{ type: 'result', subtype: 'success', is_error: false, session_id: 's-1', num_turns: 3, total_cost_usd: 0.25 },
  usage: { input_tokens: 100, output_tokens: 20 },
}
export const ends = (result: string, more: object = {}): Step => line({ ...RESULT, result, ...more })
/** The output of the program after an error of the model's service. */
export const failsWith = (api_error_status: number | null, result: string): Step[] => [
  line({ ...RESULT, is_error: true, result, ...(api_error_status !== null && { api_error_status }) }),
  { do: 'exit', code: 1 },
]

/** A folder with a `claude` that plays these steps, and keepup with this program first on the PATH. */
export class FakeClaude {
  readonly root = realpathSync(tempFolder())
  readonly work = join(this.root, 'work')
  readonly seen = join(this.root, 'seen.json')
  readonly #bin = join(this.root, 'bin')

  constructor(steps: readonly Step[]) {
    for (const folder of [this.#bin, this.work]) mkdirSync(folder)
    this.plays(steps)
    const before = process.env.PATH
    process.env.PATH = `${this.#bin}:${dirname(process.execPath)}:/usr/bin:/bin`
    onTestFinished(() => {
      process.env.PATH = before
    })
  }

  plays(steps: readonly Step[]): void {
    renameSync(fakeProgram(this.#bin, steps), join(this.#bin, 'claude'))
  }

  async open(): Promise<KeepUp> {
    const keepup = await openKeepUp({ data: join(this.root, 'data'), sandboxed: false })
    onTestFinished(() => keepup.close())
    return keepup
  }
}
