import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ReportedUsage, type SessionUsage, sessionUsage, withoutEarlier } from '../../../domain/external/usage.ts'

const count = fc.nat({ max: 1_000_000 })
const used = fc.record({ inputTokens: count, cachedInputTokens: count, outputTokens: count, nanoDollars: count })

const plus = (a: SessionUsage, b: SessionUsage): SessionUsage => ({
  inputTokens: a.inputTokens! + b.inputTokens!,
  cachedInputTokens: a.cachedInputTokens! + b.cachedInputTokens!,
  outputTokens: a.outputTokens! + b.outputTokens!,
  nanoDollars: a.nanoDollars! + b.nanoDollars!,
})
const reportOf = ({ nanoDollars, ...tokens }: SessionUsage, scope: ReportedUsage['scope']): ReportedUsage => ({
  ...{ scope, ...tokens, cost: { nanoDollars: nanoDollars!, scope } },
})

test('a report of the whole session, less the usage before, is the usage of the run', () => {
  fc.assert(
    fc.property(used, used, (before, own) => {
      expect(withoutEarlier(reportOf(plus(before, own), 'session'), before)).toEqual(reportOf(own, 'run'))
      expect(withoutEarlier(reportOf(own, 'run'), before)).toEqual(reportOf(own, 'run'))
    }),
  )
})

test('the usage of a session is that before the run and that of the run, whichever the agent reports', () => {
  fc.assert(
    fc.property(used, used, (before, own) => {
      expect(sessionUsage(reportOf(own, 'run'), before)).toEqual(plus(before, own))
      expect(sessionUsage(reportOf(plus(before, own), 'session'), null)).toEqual(plus(before, own))
    }),
  )
})

test('a figure stays that of the session where the usage before is unknown or greater', () => {
  const report = reportOf({ inputTokens: 5, cachedInputTokens: 1, outputTokens: 5, nanoDollars: 5 }, 'session')
  const before = { inputTokens: null, cachedInputTokens: null, outputTokens: 1, nanoDollars: 9 }
  expect(withoutEarlier(report, before)).toEqual(report)
  const none = { inputTokens: null, cachedInputTokens: null, outputTokens: null, nanoDollars: null }
  expect(sessionUsage(null, before)).toEqual(none)
  expect(sessionUsage(reportOf({ ...before, inputTokens: 1, cachedInputTokens: 1 }, 'run'), null)).toEqual(none)
})
