import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { foldInThread } from '../../../api/process/embedded/past/fold-thread.ts'
import { paths } from '../../../api/process/host/paths.ts'
import { LogError } from '../../../domain/log/errors.ts'
import { foldPast, ProjectionError } from '../../../projections/index.ts'
import { tempFolder } from '../../support/folders.ts'
import { dumpFile } from '../../support/projections/kit.ts'
import { eventsIn, openWorld } from '../support/http.ts'

const world = await openWorld()
afterAll(() => world.close())
const { log, blobs } = world.services
const at = paths(world.data)
const fold = foldInThread({ log: at.log, blobs: at.blobs })

it('a thread folds the tables that this thread folds, beside the owner of the log', { tags: ['git'] }, async () => {
  const run = await world.driven('finish')
  const events = await eventsIn(world.services)
  for (const event of [events[2]!, (await eventsIn(world.services, run)).at(-1)!]) {
    const [there, here] = ['there', 'here'].map((name) => join(tempFolder(), name)) as [string, string]
    const upTo = log.cursor(event)
    expect(await fold(there, upTo)).toBe(await foldPast({ log, blobs })(here, upTo))
    expect(dumpFile(there)).toEqual(dumpFile(here))
  }
})

it('an error of the thread keeps its kind and code', async () => {
  const upTo = await log.headCursor()
  const damaged = join(tempFolder(), 'damaged')
  writeFileSync(damaged, 'no tables')
  const error = await fold(damaged, upTo).catch((failed) => failed)
  expect(error).toBeInstanceOf(ProjectionError)
  expect(error).toMatchObject({ code: 'DAMAGED' })
  const noLog = foldInThread({ log: tempFolder(), blobs: at.blobs })
  const missing = await noLog(join(tempFolder(), 'tables'), upTo).catch((failed) => failed)
  expect(missing).toBeInstanceOf(LogError)
})

it('a fold ends with the reason of its signal', async () => {
  const over = new AbortController()
  const folded = fold(join(tempFolder(), 'tables'), await log.headCursor(), over.signal)
  over.abort(new Error('the client left'))
  await expect(folded).rejects.toThrow('the client left')
})
