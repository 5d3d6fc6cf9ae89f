import { expect, it } from 'vitest'
import { z } from 'zod'
import { explain } from '../../../api/cli/failure.ts'
import { Refused } from '../../../api/http/answers.ts'
import { firstIssue } from '../../../domain/log/issues.ts'

const refused = (at: 'path' | 'body', path: string) =>
  explain(new Refused({ code: 'INVALID_REQUEST', status: 400, detail: 'x', errors: [{ in: at, path, message: 'm' }] }))

it('a refusal names an option only if the command line has one for the member', () => {
  expect(refused('path', 'hold').message).toBe('hold: m')
  expect(refused('body', 'principal').message).toBe('principal: m')
  expect(refused('body', 'limits.maxTurns').message).toBe('--max-turns: m')
})

it('a file of another user is no internal error', () => {
  const error = Object.assign(new Error('EACCES'), { code: 'EACCES', path: '/data/log.db' })
  expect(explain(error)).toMatchObject({ code: 'FAILED', message: expect.stringContaining('/data/log.db') })
  expect(explain(error).message).toContain('run the command as the user who owns it')
})

it('a text of a wrong form is answered with the form', () => {
  const textOf = (schema: z.ZodType) => firstIssue(schema.safeParse('x').error!, 'key')
  expect(textOf(z.string().startsWith('ku_key_'))).toBe('key: expected a text that begins with "ku_key_"')
  expect(textOf(z.string().regex(/^[0-9]+$/))).toBe('key: expected a text of the form /^[0-9]+$/')
})
