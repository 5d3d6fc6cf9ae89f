import { expect, test } from 'vitest'
import { estimateText, used } from '../../../api/cli/output/units.ts'
import { Bill } from '../../../api/operations/runs/schemas.ts'
import { billOf, costRow } from '../../../api/process/tables/row-views.ts'

const USAGE = {
  ...{
    calls: 3,
    input: 700,
    output: 90,
    cacheRead: 5,
    cacheWrite: 1,
    nanoDollars: 40_000_000,
    unpriced: 0,
    untold: 0,
    erased: 0,
  },
  inDoubt: { calls: 1, tokens: 320, nanoDollars: 20_000_000 },
}

test('a bill tells the estimated part apart', () => {
  const bill = Bill.parse(billOf(USAGE, 2))
  expect(bill).toMatchObject({ modelCalls: 3, inDoubt: { modelCalls: 1, tokens: 320, nanoDollars: 20_000_000 } })
  expect(estimateText(bill.inDoubt)).toBe(
    '; of it 320 tokens, $0.0200 in doubt: estimated for a model call whose end was not seen',
  )
})

test('a bill with an agent that reports no usage has no tokens and no amount', () => {
  const bill = Bill.parse(billOf({ ...USAGE, unpriced: 1, untold: 1 }, 0))
  expect(bill).toMatchObject({ inputTokens: null, outputTokens: null, nanoDollars: null, usd: null, modelCalls: 3 })
  expect(used(bill)).toBe('? tokens in, ? out, ?')
  expect(costRow({ ...USAGE, unpriced: 1, untold: 1, nanoDollars: 0 })).toMatchObject({ nanoDollars: null, usd: null })
})

test('a bill without doubts says nothing of them, and one without prices no amount', () => {
  const sure = billOf({ ...USAGE, inDoubt: { calls: 0, tokens: 0, nanoDollars: 0 } }, 0)
  expect(estimateText(sure.inDoubt)).toBe('')
  const unpriced = billOf({ ...USAGE, unpriced: 1 }, 0)
  expect(estimateText(unpriced.inDoubt)).toContain('320 tokens, ? in doubt')
})
