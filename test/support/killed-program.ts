import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { start } from './child.ts'
import { tempFolder } from './folders.ts'

/** Runs a program that is killed at an append, `<file> <data> <effects> <n> <before|after>`. `lines`: of the file of effects. */
export async function killedProgram(file: string, nth: number, side: 'before' | 'after') {
  const folder = tempFolder()
  const [data, effects] = [join(folder, 'data'), join(folder, 'effects')]
  const child = start(process.execPath, [file, data, effects, String(nth), side])
  const said: string[] = []
  for await (const line of child.lines) said.push(line)
  const lines = () => (existsSync(effects) ? readFileSync(effects, 'utf8').split('\n').filter(Boolean) : [])
  return { data, effects, lines, said, ...(await child.ended) }
}

/** Both sides of each append. */
export const everyAppend = (appends: number) =>
  Array.from({ length: appends }, (_, n) => n + 1).flatMap((nth) => [[nth, 'before'] as const, [nth, 'after'] as const])
