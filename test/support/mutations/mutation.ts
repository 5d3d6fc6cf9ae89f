import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Edit, edited } from './edits.ts'

/** Disables one rule: an edit of the named function of a file. */
export interface Mutation {
  readonly file: string
  readonly name: string
  readonly edit: Edit
}

/** A file with the text that the tests load instead of its own. */
export interface Changed {
  readonly file: string
  readonly text: string
}

const AGENTS = 'test/agents/'
const root = resolve(import.meta.dirname, '../../..')

/** The file with the rule disabled. Throws if the file has no such function, or the function no such part. */
export const mutated = ({ file, name, edit }: Mutation): Changed => ({
  file,
  text: edited(file, readFileSync(join(root, file), 'utf8'), name, edit),
})

/** A vite plugin that loads the changed file named in the environment, if there is one. */
export function mutationPlugin() {
  const given = process.env.KEEPUP_MUTATION
  const changed = given === undefined ? null : (JSON.parse(given) as Changed)
  return {
    name: 'mutation',
    enforce: 'pre' as const,
    transform(_: string, id: string) {
      if (changed === null || id.split('?')[0] !== join(root, changed.file)) return null
      return { code: changed.text, map: null }
    },
  }
}

/** The result of tests with a changed file. `output`: their output. */
export async function runMutated(
  changed: Changed | null,
  file: string | readonly string[],
  name?: string,
): Promise<{ passed: boolean; output: string }> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const args = [
    vitest,
    'run',
    ...[file].flat(),
    // Tests that start external programs have separate settings.
    ...([file].flat().some((one) => one.startsWith(AGENTS)) ? ['--config', `${AGENTS}vitest.config.ts`] : []),
    '--reporter=dot',
    '--bail=1',
    ...(name === undefined ? [] : ['-t', name]),
  ]
  // A fixed seed and all cases, so the same tests always catch the same fault.
  const env = {
    ...process.env,
    FC_SEED: '20260118',
    FC_RUNS: '1',
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  }
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: changed === null ? env : { ...env, KEEPUP_MUTATION: JSON.stringify(changed) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const code = await new Promise<number | null>((done) => child.on('close', done))
  return { passed: code === 0, output }
}
