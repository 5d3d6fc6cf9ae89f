import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** Disables one rule: replaces a text that occurs once in the file while the tests load the file. */
export interface Mutation {
  readonly file: string
  readonly search: string
  readonly replace: string
}

const AGENTS = 'test/agents/'
const root = resolve(import.meta.dirname, '../..')

/** The file's text with the rule disabled. Throws unless the text to replace occurs exactly once. */
export function mutate(source: string, { file, search, replace }: Mutation): string {
  const found = source.split(search).length - 1
  if (found !== 1) throw new Error(`${file} holds ${found} times what a mutation replaces: ${search}; adapt the row`)
  return source.replace(search, () => replace)
}

/** The mutated text of the file. Throws with the errors of {@link mutate}. */
export const mutated = (mutation: Mutation): string => mutate(readFileSync(join(root, mutation.file), 'utf8'), mutation)

/** A vite plugin that applies the mutation from the environment, if one is set. */
export function mutationPlugin() {
  const given = process.env.KEEPUP_MUTATION
  const mutation = given === undefined ? null : (JSON.parse(given) as Mutation)
  return {
    name: 'mutation',
    enforce: 'pre' as const,
    transform(code: string, id: string) {
      if (mutation === null || id.split('?')[0] !== join(root, mutation.file)) return null
      return { code: mutate(code, mutation), map: null }
    },
  }
}

/** The result of tests with a mutation. `output`: their output. */
export async function runMutated(
  mutation: Mutation | null,
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
    env: mutation === null ? env : { ...env, KEEPUP_MUTATION: JSON.stringify(mutation) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const code = await new Promise<number | null>((done) => child.on('close', done))
  return { passed: code === 0, output }
}
