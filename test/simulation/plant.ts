import { spawn } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Broken, Planted } from './planted-bugs.ts'
import { NO_ERROR } from './play.ts'

const root = resolve(import.meta.dirname, '../..')
let files = 0

interface Simulated {
  readonly steps: number
  readonly seconds: number
  readonly found: {
    readonly seed: number
    readonly rule: string
    readonly what: string
    readonly shrunkSteps: number
    readonly unusual: number
    readonly story: string
  } | null
}

/** The outcome of a simulation of changed sources. `verdict` has the error of sources that do not load. */
export type Outcome =
  | ({ readonly verdict: 'found' | 'not found' | 'found otherwise' } & Simulated)
  | { readonly verdict: 'does not run'; readonly error: string }

/** The changed sources. Throws unless each text occurs once. */
export function changedBy({ edits }: Pick<Planted, 'edits'>): readonly { path: string; text: string }[] {
  const texts = new Map<string, string>()
  for (const { file, from, to } of edits) {
    const path = join(root, file)
    const before = texts.get(path) ?? readFileSync(path, 'utf8')
    if (before.split(from).length !== 2) throw new Error(`${file} must contain this text once: ${from}`)
    texts.set(
      path,
      before.replace(from, () => to),
    )
  }
  return [...texts].map(([path, text]) => ({ path, text }))
}

/** Plants a bug into a copy of the sources and simulates for at most `seconds`, then shrinks for `shrink` s. */
export async function plant(bug: Planted, { seconds, shrink }: { seconds: number; shrink: number }): Promise<Outcome> {
  const file = join(tmpdir(), `keepup-planted-${process.pid}-${files++}.json`)
  writeFileSync(file, JSON.stringify(changedBy(bug)))
  try {
    const bounds = ['--seed', String(bug.seed ?? 1), '--seconds', String(seconds), '--shrink', String(shrink)]
    const args = ['--no-warnings', 'test/simulation/main.ts', ...bounds, '--changed', file]
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
    if (output === '') return { verdict: 'does not run', error: errors }
    const simulated = JSON.parse(output) as Simulated
    const { found } = simulated
    const verdict = found === null ? 'not found' : isExpected(found, bug.breaks) ? 'found' : 'found otherwise'
    return { verdict, ...simulated }
  } finally {
    rmSync(file, { force: true })
  }
}

const isExpected = ({ rule, what }: { rule: string; what: string }, breaks: Broken): boolean =>
  typeof breaks === 'string' ? rule === breaks : rule === NO_ERROR && what.includes(breaks.error)
