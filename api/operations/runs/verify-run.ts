import type { z } from 'zod'
import type { Verification } from '../../../domain/agent/runtime/types.ts'
import { streamOfAgent } from '../../../domain/tree/runtime/stream-of-agent.ts'
import { acceptedLosses } from '../losses/accepted.ts'
import { notFound } from '../problem.ts'
import type { Services } from '../services.ts'
import { asSeen, type WithHeads, withHeads, withRows } from '../streams/prove-stream.ts'
import type { VerifiedRun } from './schemas.ts'

/**
 * Verifies every agent of a run, that the log contains everything that the tables have seen (a chain without its last
 * events is valid in itself), and that the rows in the tables match the events. `only`: verify this agent only. Throws
 * a 404 Problem if neither log nor tables contain the run or the agent.
 */
export async function verifyRun(
  s: Pick<Services, 'log' | 'blobs' | 'read' | 'runtime' | 'streams' | 'proof'>,
  runId: string,
  only?: string,
): Promise<z.infer<typeof VerifiedRun>> {
  await s.read.current()
  // Read the tables before the log, which only grows.
  const parked = await s.read.parked(runId)
  const unborn = parked.map(({ stream }) => [stream.replace(/^(?:agent|external)-/, ''), -1] as const)
  const seen = new Map([[runId, -1], ...unborn, ...(await s.read.heads(runId)).value])
  if (seen.size === 1 && seen.get(runId) === -1 && (await streamOfAgent(s.log, runId)) === null)
    throw notFound('run', runId)
  if (only !== undefined && !seen.has(only)) throw notFound('agent', only)
  const agents: WithHeads<Verification>[] = []
  const wanted = [...seen].filter(([agentId]) => only === undefined || agentId === only)
  for (const [agentId, revision] of wanted) {
    const proof = asSeen(await s.runtime.verify(agentId), revision)
    // The kind of a damaged stream may be unknown, so its rows are not compared.
    const stream = proof.events > 0 ? await streamOfAgent(s.log, agentId) : null
    agents.push(
      stream === null ? { ...proof, proof: null } : await withHeads(s, stream, await withRows(s, stream, proof)),
    )
  }
  const losses = await acceptedLosses(
    s,
    wanted.map(([agentId]) => agentId),
  )
  return { runId, ok: agents.every((agent) => agent.ok), agents, acceptedLosses: losses, parked }
}
