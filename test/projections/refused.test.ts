import { expect, it } from 'vitest'
import { bisected, parkedAtRefusal } from '../../projections/engine/projector/refused.ts'
import { rowsRefused } from '../../projections/engine/store/store.ts'

const items = Array.from({ length: 1024 }, (_, i) => i)
const refused = () => rowsRefused('The test', new Error('too long'))

it('the one that a refusal is due to is found in as many steps as a search takes, and the others are done in order', async () => {
  const done: number[] = []
  let calls = 0
  const work = async (some: readonly number[], poison: object | null) => {
    calls++
    if (poison === null && some.includes(700)) throw refused()
    done.push(...some)
    return true
  }
  expect(await bisected(items, work)).toBe(true)
  expect(done).toEqual(items)
  expect(calls).toBeLessThan(30)
})

it('nothing is done after what is for a newer program', async () => {
  const done: number[] = []
  const work = async (some: readonly number[], poison: object | null) => {
    if (poison === null && some.includes(3)) throw refused()
    if (some.includes(20)) return false
    done.push(...some)
    return true
  }
  expect(await bisected(items.slice(0, 128), work)).toBe(false)
  expect(done).toEqual(items.slice(0, 16))
})

it('the first event of a stream that is refused is found in as many steps as a search takes', async () => {
  let calls = 0
  let parkedAt: number | undefined
  await parkedAtRefusal(1023, async (known) => {
    calls++
    if (known === undefined || known.revision > 700) throw refused()
    parkedAt = known.revision
  })
  expect(parkedAt).toBe(700)
  expect(calls).toBeLessThan(15)
})
