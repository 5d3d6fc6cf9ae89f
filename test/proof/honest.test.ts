import { expect, test } from 'vitest'
import { alarms, played, steps } from '../support/attacks/honest.ts'
import { law } from '../support/laws.ts'

test('verification says nothing about honest histories', { timeout: 3_600_000 }, async () => {
  await law(steps, 400, async (all) => {
    expect(await alarms(await played(all))).toEqual([])
  })
})
