import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { SandboxUnavailable } from '../../../adapters/sandbox/error.ts'
import { VaultError } from '../../../adapters/vault/error.ts'
import { WorkspaceError } from '../../../adapters/workspace/error.ts'
import { httpStatusOf } from '../../../api/http/status.ts'
import { asProblem, Problem } from '../../../api/operations/problem.ts'
import { REJECTION_CODES, TOOL_ERROR_CODES } from '../../../domain/calls/error-codes.ts'
import { CommandRejected, ModelError, ToolError } from '../../../domain/calls/errors.ts'
import { LogError } from '../../../domain/log/errors.ts'
import { compilePattern } from '../../../domain/secrets/compile-pattern.ts'
import { ContentionError } from '../../../domain/stream/runtime/errors.ts'
import { ProjectionError } from '../../../projections/engine/errors.ts'

const DOMAIN = join(import.meta.dirname, '../../../domain')

/** The error that refuses a pattern. */
function patternError(): unknown {
  try {
    return compilePattern('(')
  } catch (error) {
    return error
  }
}

it.each([
  [new WorkspaceError('WORKSPACE_MISSING', 'm'), 422, 'WORKSPACE_MISSING'],
  [new WorkspaceError('WORKSPACE_BUSY', 'm'), 409, 'WORKSPACE_BUSY'],
  [new VaultError('VAULT_EXPOSED', 'm'), 503, 'VAULT_EXPOSED'],
  [new VaultError('SECRET_INVALID', 'm'), 422, 'SECRET_INVALID'],
  [new SandboxUnavailable('m'), 422, 'SANDBOX_UNAVAILABLE'],
  [new ModelError('AUTHENTICATION', 'm'), 422, 'MODEL_AUTHENTICATION'],
  [new ModelError('OVERLOADED', 'm', { transient: true }), 503, 'MODEL_OVERLOADED'],
  [new ModelError('SCRIPT_INVALID', 'm'), 422, 'SCRIPT_INVALID'],
  [new ProjectionError('DAMAGED', 'm'), 503, 'TABLES_DAMAGED'],
  [new ProjectionError('NOT_PARKED', 'm'), 409, 'TABLES_NOT_PARKED'],
  [new ContentionError('m'), 409, 'CONTENTION'],
  [new ToolError('RESOURCE_NOT_FOUND', 'm'), 409, 'RESOURCE_NOT_FOUND'],
  [new LogError('LOG_FULL', 'm'), 507, 'LOG_FULL'],
  [new CommandRejected('REVISION_CHANGED', 'm'), 412, 'REVISION_CHANGED'],
  [patternError(), 422, 'PATTERN_INVALID'],
  [Object.assign(new Error('write'), { code: 'ENOSPC' }), 507, 'DISK_FULL'],
])('%s is a refusal that says what to do, with a status that fits', (error, status, code) => {
  const problem = asProblem(error)
  expect(problem).toBeInstanceOf(Problem)
  expect([httpStatusOf(problem!), problem!.code]).toEqual([status, code])
  expect(problem!.message).toContain((error as Error).message)
})

it('an unexpected error is no refusal', () => {
  expect(asProblem(new TypeError('x is not a function'))).toBeNull()
  expect(asProblem('text')).toBeNull()
})

it.each([...REJECTION_CODES, ...TOOL_ERROR_CODES])(
  'the code %s of the domain has an HTTP status of its own',
  (code) => {
    const status = httpStatusOf({ code })
    expect([status >= 400 && status < 500, status]).toEqual([true, status])
  },
)

it('a code that the table lacks is an internal error', () => {
  expect(httpStatusOf({ code: 'NO_SUCH_CODE' })).toBe(500)
})

it('no status stands in the domain', () => {
  const sources = readdirSync(DOMAIN, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
  const texts = sources.map((path) => readFileSync(join(DOMAIN, path), 'utf8'))
  expect(texts.filter((text) => /CommandRejected\([^;]*,\s*4\d\d\s*\)/.test(text))).toEqual([])
})
