import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openKeepUp } from '../../../api/library/open-keepup.ts'
import { cliFolder } from '../support/cli.ts'

const folder = cliFolder()
afterAll(() => folder.clean())
const { look, data, root } = folder

async function write(values: readonly string[]) {
  await using keepup = await openKeepUp({ data, by: 'ann' })
  for (const value of values) await keepup.contextStore('review').set('goal', value)
}

it('a signed head tells at the start that the log lost its end; an accepted loss begins a new origin', async () => {
  await write(['one'])
  const whole = join(root, 'whole')
  cpSync(data, whole, { recursive: true, filter: (path) => !path.endsWith('.sock') })
  await write(['two', 'three'])
  // The log, its mark and the tables are those of before. Only the signed heads know more.
  for (const part of ['log', 'tables']) {
    rmSync(join(data, part), { recursive: true })
    cpSync(join(whole, part), join(data, part), { recursive: true })
  }
  await expect(write(['four'])).rejects.toMatchObject({ code: 'LOG_SHORTENED' })
  const told = await look('repair')
  expect([told.code, told.out]).toEqual([5, expect.stringContaining('but its signed heads have seen position')])
  expect(told.err).toContain('restore a backup of the log that holds it')
  expect(await look('repair', '--accept-loss', '--yes')).toMatchObject({ code: 0 })
  await write(['four'])
  expect(await look('repair')).toMatchObject({ code: 0 })
  const origins = JSON.parse((await look('-o', 'json', 'sql', 'select reason from log_origins order by origin')).out)
  expect(origins).toEqual([{ reason: 'first' }, { reason: 'loss' }])
  const verified = await look('verify')
  expect(verified).toMatchObject({ code: 0 })
  const [, kept, knew, gone] = verified.out
    .match(
      /heads: hold.*\n {2}a loss accepted by \S+ at \S+: (\d+) events kept, the head of \d+ events knew (\d+): (\d+) are gone/,
    )!
    .map(Number)
  expect(gone).toBe(knew! - kept!)
  expect(gone).toBeGreaterThan(0)
})
