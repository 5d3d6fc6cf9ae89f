import { notFound, Problem } from '../problem.ts'
import type { Services } from '../services.ts'

/** Why the tables do not contain a run: it does not exist, or its first event is unreadable. */
export async function unread({ read }: Pick<Services, 'read'>, runId: string): Promise<Problem> {
  const [first] = await read.parked(runId)
  if (first === undefined) return notFound('run', runId)
  const { stream, revision, code, error } = first
  const todo = `what is wrong with it: keepup verify ${runId}; when it is back: keepup release ${runId}`
  return new Problem('RUN_PARKED', `${stream} cannot be read from ${revision} on: ${error} (${code}); ${todo}`)
}
