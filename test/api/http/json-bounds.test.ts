import { setImmediate as nextTurn } from 'node:timers/promises'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { envelopeBody } from '../../../api/http/envelope-body.ts'
import { jsonGuard, sizeGuard } from '../../../api/http/guards.ts'
import { asProblem } from '../../../api/operations/problem.ts'
import { StartRun } from '../../../api/operations/runs/start-schemas.ts'
import { RawBody } from '../../../domain/document/runtime/received-body.ts'

// Faults planted: a bound that is one higher or lower; the guard parses before it measures; a large body is handled in one
// turn.

const MIB = 1024 * 1024

const app = new Hono().use(sizeGuard(9 * MIB), jsonGuard()).post('/', (c) => c.body(null))
app.onError((error, c) => {
  const problem = asProblem(error)
  if (problem === null) throw error
  return c.text(`${problem.code}: ${problem.message}`)
})

const send = (body: string) =>
  app.request('/', { method: 'POST', body, headers: { 'content-type': 'application/json' } })
const said = async (body: string) => (await send(body)).text()

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
/** An object whose list has so many members that the text has `count` values. */
const values = (count: number) => `{"tools":[${Array(count - 2).fill(1)}]}`

describe('a JSON body', () => {
  it('has bounds of depth and of values, and is not parsed beyond them', async () => {
    expect([await said(nested(1_000)), await said(values(40_000))]).toEqual(['', ''])
    expect(await said(nested(1_001))).toBe(
      'REQUEST_TOO_LARGE: the body has values more than 1000 levels deep; send less at a time, or nest it less deeply',
    )
    expect(await said(values(40_001))).toMatch(/^REQUEST_TOO_LARGE: the body has more than 40000 JSON values; /)
    // Measuring stops at the bound, before the place where the text stops being JSON.
    expect(await said(`${'['.repeat(1_001)}?`)).toMatch(/^REQUEST_TOO_LARGE/)
  })

  it('may have as many values as that, all of them wrong', () => {
    const { error } = StartRun.safeParse(JSON.parse(values(40_000)))
    expect(error?.issues.length).toBeGreaterThan(39_000)
  })

  it('is handled in several turns of the event loop if it is large', async () => {
    const turns = async (text: string) => {
      let count = 0
      let over = false
      const counting = (async () => {
        for (; !over; count++) await nextTurn()
      })()
      await send(JSON.stringify({ text }))
      over = true
      await counting
      return count
    }
    const small = await turns('x'.repeat(MIB / 2))
    expect((await turns('x'.repeat(MIB))) - small).toBeGreaterThanOrEqual(3)
  })
})

it('an envelope has bounds of its own, and is kept as it came beyond them', () => {
  const sent = (text: string) => envelopeBody(Buffer.from(text))
  expect([sent(nested(32)), sent(values(40_000))]).not.toContainEqual(expect.any(RawBody))
  expect(sent(nested(33))).toMatchObject({ fault: expect.stringContaining('values more than 32 levels deep; ') })
  expect(sent(values(40_001))).toMatchObject({ fault: expect.stringContaining('more than 40000 JSON values; ') })
  expect(sent('{')).toMatchObject({ fault: expect.stringContaining('not JSON in UTF-8') })
})
