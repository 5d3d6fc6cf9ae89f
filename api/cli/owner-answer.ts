import type { ProblemBody } from '../operations/schemas.ts'

/**
 * The answer of another process that owns the data folder. A missing model key concerns the environment of that
 * process, not of this command, so the error message says so.
 */
export async function ownerAnswer(response: Response, dataFolder: string): Promise<Response> {
  if (response.ok || !response.headers.get('content-type')?.includes('json')) return response
  const problem = (await response.clone().json()) as ProblemBody
  if (problem.code !== 'MODEL_AUTHENTICATION') return response
  const detail =
    `the process that owns ${dataFolder} has no key for this model (${problem.detail}). The environment of this command does ` +
    'not reach it: end that process, and start it again with the key set'
  return new Response(JSON.stringify({ ...problem, detail }), response)
}
