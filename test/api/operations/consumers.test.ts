import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { SqlitePositions } from '../../../adapters/sqlite/positions.ts'
import { Consumers } from '../../../api/operations/consumers/consumers.ts'
import { SystemClock } from '../../../api/process/host/clock.ts'
import type { Positions } from '../../../domain/ports/index.ts'
import { tempFolder } from '../../support/folders.ts'
import { MemoryBlobs } from '../../support/harness.ts'

/** Consumers of an empty log. `wrapped`: replaces the store of positions. */
function world(wrapped: (positions: Positions) => Positions = (positions) => positions) {
  const positions = new SqlitePositions(join(tempFolder(), 'positions.db'))
  onTestFinished(() => positions.close())
  const parts = { log: new MemoryLog(), blobs: new MemoryBlobs(), clock: new SystemClock() }
  const other = new Consumers({ ...parts, positions })
  return { other, consumers: new Consumers({ ...parts, positions: wrapped(positions) }) }
}
const from = (types: readonly string[]) => ({ after: null, filter: { types: [...types] } })

test('of two programs that create a consumer at once, the second sees what the first has created', async () => {
  let isFirst = true
  const { other, consumers } = world((positions) => ({
    read: (name) => positions.read(name),
    claim: (name) => positions.claim(name),
    write: (name, position, before) => positions.write(name, position, before),
    async list(prefix) {
      if (isFirst) await other.create('rows', from(['user_input']))
      isFirst = false
      return positions.list(prefix)
    },
  }))
  await expect(consumers.create('rows', from(['error']))).rejects.toMatchObject({ code: 'CONSUMER_EXISTS' })
  expect((await other.get('rows')).filter).toEqual({ types: ['user_input'] })
})

test('removed consumers do not count towards the most', async () => {
  const { consumers } = world()
  for (let n = 0; n < 1_001; n++) {
    await consumers.create(`c${n}`, from(['error']))
    await consumers.remove(`c${n}`)
  }
  expect(await consumers.create('last', from(['error']))).toBe(true)
})
