import { expect, test } from 'vitest'
import { ToolError } from '../../domain/calls/errors.ts'
import { thrownByTool } from '../../domain/calls/thrown-errors.ts'

test.each([
  // An edit of a document that met a conflict at its last retry.
  ['RETRY_EXHAUSTED', 'RETRY_EXHAUSTED'],
  ['CONFLICT', 'CONFLICT'],
  ['PERMISSION_DENIED', 'EXECUTION_FAILED'],
  ['CANCELLED', 'EXECUTION_FAILED'],
])('a tool that throws %s fails with %s', (thrown, code) => {
  expect(thrownByTool(new ToolError(thrown as never, 'why')).code).toBe(code)
})
