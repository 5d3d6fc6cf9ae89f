import { expect, it } from 'vitest'
import { ConfigSchema } from '../../../api/process/config/settings.ts'
import { Opened, openHost } from '../../../api/process/host/open-host.ts'
import { tempFolder } from '../../support/folders.ts'

/** Closes three things, of which some fail; in what order, and with what, is told. */
async function closed(...fails: string[]) {
  const opened = new Opened()
  const order: string[] = []
  for (const name of ['a', 'b', 'c']) {
    opened.push(async () => {
      order.push(name)
      if (fails.includes(name)) throw new Error(`${name} failed`)
    })
  }
  const error: unknown = await opened.closeAll().catch((thrown: unknown) => thrown)
  return { order, error }
}

it('all is closed, the last first, whatever fails', async () => {
  expect(await closed()).toEqual({ order: ['c', 'b', 'a'], error: undefined })
  expect(await closed('c')).toEqual({ order: ['c', 'b', 'a'], error: new Error('c failed') })
  const { order, error } = await closed('b', 'c')
  expect(order).toEqual(['c', 'b', 'a'])
  expect((error as AggregateError).errors).toEqual([new Error('c failed'), new Error('b failed')])
})

it('passwords of servers are hidden, and one that is too short for that is reported without being shown', async () => {
  const config = ConfigSchema.parse({ data: tempFolder() })
  const told: string[] = []
  const opened = new Opened()
  const { knownSecrets } = await openHost(config, {}, opened, (text) => told.push(text), {
    passwords: ['long enough', 'abc'],
  })
  await opened.closeAll()
  expect([knownSecrets.includes('long enough'), knownSecrets.includes('abc')]).toEqual([true, false])
  expect(told).toEqual([expect.stringMatching(/a password in .*KEEPUP_POSTGRES: too short to be hidden/)])
})
