import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openKeepUp } from '../../api/index.ts'
import { start } from '../support/child.ts'
import { expectedEvents, exportedEvents, manifestOf, plainRow, rowsOf } from '../support/exports/read-back.ts'
import { tempFolder } from '../support/folders.ts'

const CHILD = fileURLToPath(new URL('../support/exports/export-child.ts', import.meta.url))
const KILLS = Number(process.env.EXPORT_KILLS ?? 4)
const WORD = 'the parrot'

test('an export that is killed at random goes on: every event once, and nothing that was erased', {
  timeout: 3_600_000,
}, async () => {
  const folder = tempFolder()
  const to = join(folder, 'exported')
  let again = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const child = start(process.execPath, [CHILD, folder, WORD])
    let exports = 0
    for await (const line of child.lines) {
      again += Number(/(\d+) again/.exec(line)?.[1])
      if (++exports > kill % 4) break
    }
    await sleep((kill * 37) % 90)
    child.process.kill('SIGKILL')
    expect((await child.ended).end, (await child.ended).stderr).toBe('SIGKILL')
    await mustReadWell(to)
  }
  expect(again).toBeGreaterThan(0)

  const keepup = await openKeepUp({ data: join(folder, 'data'), by: 'ada' })
  try {
    await keepup.exportEvents({ to, format: 'ndjson' })
    const rows = (await exportedEvents(to)).map(plainRow)
    expect(rows).toEqual(await expectedEvents(keepup.services))
    const erased = rows.filter((row) => row.erased === 'true')
    expect(erased.length).toBeGreaterThan(2)
    // The manifest names each text of the log that is left, and no file has another one.
    const texts = [...manifestOf(to).keys()].map((file) => readFileSync(join(to, file), 'utf8')).join('')
    const left = rows.filter(({ payload }) => JSON.stringify(payload).includes(WORD))
    expect(texts.split('\n').filter((line) => line.includes(WORD))).toHaveLength(left.length)
  } finally {
    await keepup.close()
  }
})

/** The files of the manifest hold events that follow one another, each once. */
async function mustReadWell(to: string): Promise<void> {
  if (!existsSync(join(to, '_manifest.ndjson'))) return
  // A kill can cut the last line.
  const lines = readFileSync(join(to, '_manifest.ndjson'), 'utf8').split('\n').slice(1, -1)
  const files = new Set(lines.map((line) => (JSON.parse(line) as { file: string }).file))
  const positions: number[] = []
  for (const file of files) for (const { position } of await rowsOf(join(to, file))) positions.push(Number(position))
  positions.sort((a, b) => a - b)
  expect(positions).toEqual([...new Set(positions)])
  expect(positions).toEqual(positions.map((_, n) => positions[0]! + n))
}
