import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Work } from './main.ts'

// Runs one piece of work with the program in a folder, and prints its cost.

const [, , program, folder, work, count] = process.argv as unknown as [string, string, string, string, Work, string]
const embedded = pathToFileURL(join(program, 'test/bench/embedded.ts')).href
const { openEmbedded } = (await import(embedded)) as typeof import('../embedded.ts')

/** The turns of each of many short runs, and the number of runs at once. */
const TURNS = 20
const AT_ONCE = 32

const data = join(folder, 'data')
const opened = await openEmbedded(data)
const turns = work === 'lone' ? Number(count) : Number(count) * TURNS
const cpu = process.cpuUsage()
const from = performance.now()
if (work === 'lone') await opened.run(turns)
else {
  let left = Number(count)
  const loop = async () => {
    while (left-- > 0) await opened.run(TURNS)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, loop))
}
await opened.shown()
const ms = performance.now() - from
const { user, system } = process.cpuUsage(cpu)
const rss = process.memoryUsage().rss
await opened.close()
rmSync(data, { recursive: true })
process.stdout.write(JSON.stringify({ cpuMs: (user + system) / 1000 / turns, ms: ms / turns, mb: rss / 1024 / 1024 }))
