import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ownReport, REPORT } from '../../.ci/types-report.ts'

test('the committed report names the public types as they are', { timeout: 600_000 }, () => {
  const report = ownReport()
  expect(report.length).toBeGreaterThan(10_000)
  expect(report, 'run "npm run types:report", and read its difference').toBe(readFileSync(REPORT, 'utf8'))
})
