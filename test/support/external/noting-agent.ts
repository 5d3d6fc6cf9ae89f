import { mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { fakeProgram, type Step } from '../../../adapters/agents/process/fake-steps.ts'
import { processes } from '../../../adapters/sandbox/process-table.ts'
import { start } from '../child.ts'
import { tempFolder } from '../folders.ts'
import { CLAUDE } from './samples.ts'

/**
 * A folder with an agent that records each of its starts outside its workspace (so it runs unconfined), leaves a
 * grandchild process, and plays a recorded run.
 */
export function place() {
  const root = realpathSync(tempFolder())
  const [bin, work, starts] = [join(root, 'bin'), join(root, 'work'), join(root, 'starts')]
  for (const folder of [bin, work]) mkdirSync(folder)
  writeFileSync(starts, '')
  const plays = CLAUDE.lines.map((text): Step => ({ do: 'print', text }))
  const fake = fakeProgram(bin, [{ do: 'grandchild', pidFile: join(root, 'pid') }, ...plays])
  renameSync(fake, join(bin, 'real'))
  writeFileSync(join(bin, 'claude'), `#!/bin/sh\necho one >> '${starts}'\nexec '${join(bin, 'real')}' "$@"\n`, {
    mode: 0o755,
  })
  const started = () => readFileSync(starts, 'utf8').split('\n').length - 1
  return { root, data: join(root, 'data'), work, bin, started }
}

/** Starts a program that uses the agent of a place, and waits for its end or kill. */
export async function killedIn(at: ReturnType<typeof place>, program: string, nth: number, side: 'before' | 'after') {
  const { PATH, HOME } = process.env
  // HOME marks all descendant processes.
  Object.assign(process.env, { PATH: `${at.bin}:${dirname(process.execPath)}:${PATH}`, HOME: at.root })
  onTestFinished(() => void Object.assign(process.env, { PATH, HOME }))
  const child = start(process.execPath, [program, at.data, at.work, String(nth), side])
  const said: string[] = []
  for await (const line of child.lines) said.push(line)
  return { ...at, said, ...(await child.ended) }
}

/** Processes of a place, by its folder. */
export const marked = (root: string) =>
  processes()
    .filter(({ environment }) => environment().includes(`HOME=${root}\0`))
    .map(({ pid }) => pid)
