import type { z } from 'zod'
import type { Verification } from '../../../domain/agent/runtime/types.ts'
import { streamOfAgent } from '../../../domain/tree/runtime/stream-of-agent.ts'
import { acceptedLosses } from '../losses/accepted.ts'
import { notFound } from '../problem.ts'
import type { Services } from '../services.ts'
import { asSeen, withRows } from '../streams/prove-stream.ts'
import type { VerifiedRun } from './schemas.ts'

/**
 * Proves every agent of a run, that the log still holds all that the tables have seen of it (a chain whose last links are
 * gone holds by itself), and that the tables hold the rows which its events give. `only`: this agent of it. Throws a 404 Problem where neither knows the run, or the agent.
 */
export async function verifyRun(
  s: Pick<Services, 'log' | 'blobs' | 'read' | 'runtime'>,
  runId: string,
  only?: string,
): Promise<z.infer<typeof VerifiedRun>> {
  await s.read.current()
  // Before the log is read, which only grows.
  const parked = await s.read.parked(runId)
  const unborn = parked.map(({ stream }) => [stream.replace(/^(?:agent|external)-/, ''), -1] as const)
  const seen = new Map([[runId, -1], ...unborn, ...(await s.read.heads(runId)).value])
  if (seen.size === 1 && seen.get(runId) === -1 && (await streamOfAgent(s.log, runId)) === null)
    throw notFound('run', runId)
  if (only !== undefined && !seen.has(only)) throw notFound('agent', only)
  const agents: Verification[] = []
  const wanted = [...seen].filter(([agentId]) => only === undefined || agentId === only)
  for (const [agentId, revision] of wanted) {
    const proof = asSeen(await s.runtime.verify(agentId), revision)
    // A damaged stream may not tell its kind, and its rows are not compared.
    const stream = proof.ok ? await streamOfAgent(s.log, agentId) : null
    agents.push(stream === null ? proof : await withRows(s, stream, proof))
  }
  const losses = await acceptedLosses(
    s,
    wanted.map(([agentId]) => agentId),
  )
  return { runId, ok: agents.every((agent) => agent.ok), agents, acceptedLosses: losses, parked }
}
