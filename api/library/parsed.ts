import type { z } from 'zod'
import { issuesOf, issuesText } from '../../domain/log/issues.ts'
import { Problem } from '../operations/problem.ts'

/** Reports all faults of a value in one sentence, without the values, which may be secrets. */
export function parsed<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const { success, data, error } = schema.safeParse(value)
  if (success) return data
  const issues = issuesOf(error)
  throw new Problem('INVALID_REQUEST', issuesText(issues), issues)
}
